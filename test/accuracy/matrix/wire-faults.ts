import type { ServerResponse } from 'node:http';
import { type AgentProxy, forward, startAgentProxy } from './agent-proxy.js';

/** How an agent breaks the protocol. */
interface WireFault {
  readonly description: string;
  /** Part of the reason of the failed call. */
  readonly reason: RegExp;
  /** @param attempt number of the call's attempt, from 0 */
  readonly breach: (response: ServerResponse, attempt: number) => void;
}

const STREAM = { 'content-type': 'text/event-stream' };
const JSON_TYPE = { 'content-type': 'application/json' };
const delta = (content: string): string => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;

/** Begins an answer in the middle of which something goes wrong. */
const begin = (response: ServerResponse): ServerResponse => {
  response.writeHead(200, STREAM);
  response.write(delta('We are open '));
  return response;
};
const status =
  (code: number, body = '{"error": {"message": "overloaded"}}') =>
  (response: ServerResponse) =>
    void response.writeHead(code, JSON_TYPE).end(body);

const ALTERNATING = [
  (response: ServerResponse) => void begin(response).end('data: {"choices": [{"del\n\n'),
  status(503),
  (response: ServerResponse) => void begin(response).socket?.destroySoon(),
] as const;

/** From the caller's second turn on, in every attempt. */
export const WIRE_FAULTS: Readonly<Record<string, WireFault>> = {
  'malformed-stream': {
    description: 'sends JSON that is cut short in its event stream',
    reason: /not a chat completion/,
    breach: (response) => void begin(response).end('data: {"choices": [{"del\n\n'),
  },
  'wrong-schema': {
    description: 'sends JSON of another API',
    reason: /not a chat completion/,
    breach: (response) => void response.writeHead(200, JSON_TYPE).end('{"reply": "We are open until 10 pm."}'),
  },
  'error-in-stream': {
    description: 'sends an error object in the middle of its answer',
    reason: /reported an error.*overloaded/s,
    breach: (response) => void begin(response).end('data: {"error": {"message": "overloaded"}}\n\n'),
  },
  'error-object': {
    description: 'sends an error object with status 200',
    reason: /reported an error.*overloaded/s,
    breach: status(200),
  },
  'status-500': { description: 'answers HTTP 500', reason: /HTTP 500/, breach: status(500) },
  'status-503': { description: 'answers HTTP 503', reason: /HTTP 503/, breach: status(503) },
  'status-401': { description: 'answers HTTP 401', reason: /HTTP 401/, breach: status(401) },
  'html-page': {
    description: 'sends an HTML page with status 200',
    reason: /not a chat completion/,
    breach: (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>'),
  },
  'empty-body': {
    description: 'answers HTTP 204 without a body',
    reason: /not a chat completion/,
    breach: (response) => void response.writeHead(204).end(),
  },
  'invalid-utf-8': {
    description: 'sends bytes that are not UTF-8',
    reason: /not a chat completion: it is not UTF-8/,
    breach: (response) => void begin(response).end(Buffer.from([0x64, 0xff, 0xfe, 0x0a, 0x0a])),
  },
  'cut-before-answer': {
    description: 'closes the connection instead of answering',
    reason: /attempt/,
    breach: (response) => void response.socket?.destroy(),
  },
  'cut-in-answer': {
    description: 'closes the connection in the middle of its answer',
    reason: /cut off/,
    breach: (response) => void begin(response).socket?.destroySoon(),
  },
  'short-body': {
    description: 'sends less than its Content-Length',
    reason: /attempt/,
    breach: (response) => {
      response.writeHead(200, { ...JSON_TYPE, 'content-length': 1_000 });
      response.write('{"choices": [');
      setImmediate(() => response.socket?.destroySoon());
    },
  },
  'not-http': {
    description: 'sends something that is not HTTP',
    reason: /attempt/,
    breach: (response) => void response.socket?.end('+OK POP3 ready\r\n'),
  },
  'stall-in-answer': {
    description: 'stops in the middle of its answer and keeps the connection open',
    reason: /not complete in time/,
    breach: (response) => void begin(response),
  },
  'no-answer': {
    description: 'accepts the request and never answers',
    reason: /not complete in time/,
    breach: () => undefined,
  },
  'endless-answer': {
    description: 'never stops talking',
    reason: /too large/,
    breach: (response) => {
      response.writeHead(200, STREAM);
      const write = () => {
        if (response.destroyed) return;
        response.write(delta('and so on '.repeat(5_000)));
        setImmediate(write);
      };
      write();
    },
  },
  'tool-loop': {
    description: 'calls tools without ever answering',
    reason: /kept calling tools/,
    breach: (response) => {
      const call = { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{}' } };
      const message = { role: 'assistant', content: null, tool_calls: [call] };
      response.writeHead(200, JSON_TYPE).end(JSON.stringify({ choices: [{ message, finish_reason: 'tool_calls' }] }));
    },
  },
  alternating: {
    description: 'breaks the protocol differently in each attempt',
    reason: /First attempt: .*second attempt: .*third attempt: /s,
    breach: (response, attempt) => ALTERNATING[attempt % ALTERNATING.length]!(response),
  },
};

/** Caller's turn at which the breaches begin. */
const BREACH_TURN = 2;

/** A proxy of the sound reference agent that breaks the protocol; its path is the fault and the evaluation. */
export const startWireFaults = (agentUrl: string): Promise<AgentProxy> =>
  startAgentProxy((request, response) => {
    const { path, turn, attempt } = request;
    if (turn < BREACH_TURN) return forward(agentUrl, request, response);
    return WIRE_FAULTS[path[0] ?? '']?.breach(response, attempt);
  });
