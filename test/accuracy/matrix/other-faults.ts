import type { ServerResponse } from 'node:http';
import type { CallResult } from '../../../libs/simulation/index.js';
import { type AgentProxy, forward, startAgentProxy } from './agent-proxy.js';

/** Something between the tester and a healthy agent goes wrong. */
interface OtherFault {
  readonly description: string;
  readonly allowed: readonly CallResult['outcome'][];
  readonly reason?: RegExp;
  /** The fault occurs if this returns true; otherwise the healthy agent answers. */
  readonly occurs?: (turn: number, attempt: number) => boolean;
  readonly disturb?: (response: ServerResponse) => void;
  /** An address instead of the proxy's. */
  readonly address?: string;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const firstAttempt = (turn: number, attempt: number): boolean => turn === 2 && attempt === 0;
const beforeAnswer = (turn: number): boolean => turn === 1;

export const OTHER_FAULTS: Readonly<Record<string, OtherFault>> = {
  'connection-refused': {
    description: 'nothing listens on the address',
    allowed: ['error'],
    reason: /Could not connect.*ECONNREFUSED/s,
    address: 'http://127.0.0.1:9/v1/chat/completions',
  },
  'unknown-host': {
    description: 'the host name does not resolve',
    allowed: ['error'],
    reason: /host name could not be resolved/,
    address: 'http://agent.invalid/v1/chat/completions',
  },
  'gateway-down': {
    description: 'a gateway answers HTTP 502 from the first turn on',
    allowed: ['error'],
    reason: /HTTP 502/,
    occurs: beforeAnswer,
    disturb: (response) => void response.writeHead(502).end('<h1>Bad gateway</h1>'),
  },
  'wrong-key': {
    description: 'the agent refuses the key from the first turn on',
    allowed: ['error'],
    reason: /HTTP 401/,
    occurs: beforeAnswer,
    disturb: (response) => void response.writeHead(401, JSON_TYPE).end('{"error": {"message": "invalid key"}}'),
  },
  'unavailable-once': {
    description: 'HTTP 503 once',
    allowed: ['passed'],
    occurs: firstAttempt,
    disturb: (response) => void response.writeHead(503).end(),
  },
  'rate-limited-once': {
    description: 'HTTP 429 with Retry-After once',
    allowed: ['passed'],
    occurs: firstAttempt,
    disturb: (response) => void response.writeHead(429, { 'retry-after': '2' }).end(),
  },
  'reset-once': {
    description: 'the connection is reset once',
    allowed: ['passed'],
    occurs: firstAttempt,
    disturb: (response) => void response.socket?.resetAndDestroy(),
  },
  'cut-once': {
    description: 'the connection is closed in the middle of an answer once',
    allowed: ['passed'],
    occurs: firstAttempt,
    disturb: (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices": [{"delta": {"content": "We are"}}]}\n\n');
      setImmediate(() => response.socket?.destroySoon());
    },
  },
};

/** A proxy of the healthy reference agent; its path is the fault and the evaluation. */
export const startOtherFaults = (agentUrl: string): Promise<AgentProxy> =>
  startAgentProxy((request, response) => {
    const { occurs, disturb } = OTHER_FAULTS[request.path[0] ?? ''] ?? {};
    if (occurs?.(request.turn, request.attempt)) return disturb?.(response);
    return forward(agentUrl, request, response);
  });
