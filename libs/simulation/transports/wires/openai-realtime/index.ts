import path from 'node:path';
import type { WireModule } from '../../modules/module.js';
import { REALTIME_FINDINGS } from './findings.js';
import { lineRateOf, REALTIME_OPTIONS } from './options.js';
import { realtimeSession } from './session.js';
import type { RealtimeState } from './wire.js';

/** A session of OpenAI's Realtime API, or of a server that speaks it, over WebSocket. */
export const openaiRealtime: WireModule<RealtimeState> = {
  name: 'openai-realtime',
  source: import.meta.url,
  title: 'OpenAI Realtime',
  medium: 'voice',
  clock: 'heard',
  schemes: ['wss:', 'ws:'],
  defaultUrl: 'wss://api.openai.com/v1/realtime?model={assistantId}',
  firstSpeaker: 'agent',
  provides: { words: true, toolCalls: 'answered', keys: false },
  options: REALTIME_OPTIONS,
  reservedHeaders: [],
  findings: REALTIME_FINDINGS,
  steps: {
    resolved: 'The host name leads to an address that may be called',
    connected: 'The connection was established',
    secured: 'The connection is encrypted, and the certificate is valid',
    websocket: 'The platform accepted the WebSocket',
    ready: 'The platform accepted the session',
    answered: 'The agent was heard',
  },
  lineRate: lineRateOf,
  entry: new URL(`./wire${path.extname(import.meta.url)}`, import.meta.url),
  session: realtimeSession,
};
