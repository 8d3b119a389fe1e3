import path from 'node:path';
import type { WireModule } from '../../modules/module.js';
import { PIPECAT_FINDINGS } from './findings.js';
import { PIPECAT_OPTIONS, providedWith } from './options.js';
import { pipecatSession } from './session.js';
import type { PipecatState } from './wire.js';

/** A bot written with Pipecat, over its WebSocket transport: protobuf frames, with RTVI in them. */
export const pipecat: WireModule<PipecatState> = {
  name: 'pipecat',
  source: import.meta.url,
  title: 'Pipecat',
  medium: 'voice',
  clock: 'heard',
  schemes: ['wss:', 'ws:', 'https:', 'http:'],
  firstSpeaker: null,
  provides: { words: true, toolCalls: 'answered', keys: true },
  providedWith,
  takes: { variables: true, variableSchemes: ['https:', 'http:'] },
  runsTools: true,
  options: PIPECAT_OPTIONS,
  reservedHeaders: [],
  findings: PIPECAT_FINDINGS,
  steps: {
    resolved: 'The host name leads to an address that may be called',
    connected: 'The connection was established',
    secured: 'The connection is encrypted, and the certificate is valid',
    accepted: 'The server has started a bot, and named its WebSocket',
    websocket: 'The bot accepted the WebSocket',
    ready: 'The bot is ready',
    answered: 'The agent was heard',
    words: 'The bot reports what the agent says',
  },
  lineRate: () => 24_000,
  entry: new URL(`./wire${path.extname(import.meta.url)}`, import.meta.url),
  session: pipecatSession,
};
