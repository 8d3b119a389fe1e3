import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { json } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import type { FailureCode } from '../../../../libs/simulation/index.js';
import { delta, event } from '../../servers.js';

/** What a faulty agent gets to write its response. */
interface Exchange {
  readonly socket: Socket;
  readonly authorization: string;
}

interface FaultyAgent {
  /** Predicate for a sentence on the turn that it breaks. */
  readonly effect: string;
  /** The failure of an attempt; undefined for an agent that only stays silent (`agent_silent`). */
  readonly code: FailureCode | undefined;
  readonly respond: (exchange: Exchange) => void;
}

const head = (status: string, ...headers: string[]): string =>
  ['HTTP/1.1 ', status, '\r\nConnection: close\r\n', ...headers.map((header) => `${header}\r\n`), '\r\n'].join('');
const STREAM = head('200 OK', 'Content-Type: text/event-stream');
const JSON_BODY = head('200 OK', 'Content-Type: application/json');
const BEGUN = STREAM + delta({ content: 'Just a' });

/** Sends exactly this and closes the connection. */
const sends =
  (...parts: (string | Buffer)[]) =>
  ({ socket }: Exchange) =>
    void socket.end(Buffer.concat(parts.map((part) => Buffer.from(part))));
/** Sends this and keeps the connection open. */
const leavesOpen =
  (text: string) =>
  ({ socket }: Exchange) =>
    void socket.write(text);

/** Writes until the connection is closed. */
function flood(socket: Socket, text: string): void {
  const write = () => {
    while (!socket.destroyed && socket.write(text));
    if (!socket.destroyed) socket.once('drain', write);
  };
  write();
}

/**
 * Agents that answer well and then break the protocol in one way. `effect` describes each; they can be started with
 * `startFaultyAgent`, for specs and for the measurement of accuracy.
 */
export const FAULTY_AGENTS = {
  'malformed-stream': {
    effect: 'sends an event that is not JSON',
    code: 'invalid_answer',
    respond: sends(BEGUN, 'data: {"choices": [{"delta": \n\n'),
  },
  'wrong-schema': {
    effect: 'sends JSON that is not a chat completion',
    code: 'invalid_answer',
    respond: sends(JSON_BODY, '{"output": [{"text": "Hello"}]}'),
  },
  'wrong-type': {
    effect: 'streams a content that is a number',
    code: 'invalid_answer',
    respond: sends(BEGUN, delta({ content: 42 })),
  },
  'no-choices': {
    effect: 'sends a completion with an empty list of choices',
    code: 'invalid_answer',
    respond: sends(JSON_BODY, '{"choices": []}'),
  },
  'error-object': {
    effect: 'sends an error object in the middle of its stream',
    code: 'agent_error',
    respond: sends(BEGUN, event({ error: { message: 'The model is overloaded', code: 529 } })),
  },
  reset: {
    effect: 'resets the connection in the middle of its stream',
    code: 'stream_cut',
    respond: ({ socket }) => void socket.write(BEGUN, () => socket.resetAndDestroy()),
  },
  cut: {
    effect: 'closes the connection in the middle of its stream',
    code: 'stream_cut',
    respond: sends(BEGUN),
  },
  'no-response': {
    effect: 'closes the connection without a response',
    code: 'connection_failed',
    respond: ({ socket }) => void setTimeout(() => socket.destroy(), 600),
  },
  stall: {
    effect: 'stops in the middle of its stream and keeps the connection open',
    code: 'timeout',
    respond: leavesOpen(BEGUN),
  },
  drip: {
    effect: 'sends comments instead of words, without end',
    code: 'timeout',
    respond: ({ socket }) => {
      socket.write(STREAM);
      const timer = setInterval(() => socket.write(': wait\n\n'), 20);
      socket.once('close', () => clearInterval(timer));
    },
  },
  hang: { effect: 'never responds', code: 'timeout', respond: () => undefined },
  silence: {
    effect: 'gives answers without words',
    code: undefined,
    respond: sends(STREAM, delta({ content: '' }), delta({}, 'stop'), event('[DONE]')),
  },
  'status-500': {
    effect: 'responds with 500 and the credentials that it received',
    code: 'agent_status',
    respond: ({ socket, authorization }) => {
      const basic = Buffer.from(`user:${authorization.replace(/^Bearer /, '')}`).toString('base64');
      const body = JSON.stringify({ trace: 'KeyError: name', AUTHORIZATION: authorization, basic });
      socket.end(head('500 Internal Server Error', 'Content-Type: application/json') + body);
    },
  },
  'status-400': {
    effect: 'refuses the request with 400',
    code: 'http_refused',
    respond: sends(head('400 Bad Request'), '{"error": "context_length_exceeded"}'),
  },
  'status-429': {
    effect: 'responds with 429 and Retry-After in seconds',
    code: 'rate_limited',
    respond: sends(head('429 Too Many Requests', 'Retry-After: 7'), 'Slow down.'),
  },
  'status-503': {
    effect: 'responds with 503 and a Retry-After that is a date',
    code: 'http_status',
    respond: ({ socket }) => {
      const date = new Date(Date.now() + 30_000).toUTCString();
      socket.end(`${head('503 Service Unavailable', `Retry-After: ${date}`)}Restarting.`);
    },
  },
  'gateway-page': {
    effect: 'responds with the error page of a gateway',
    code: 'http_status',
    respond: sends(
      head('502 Bad Gateway', 'Content-Type: text/html'),
      '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>nginx</body></html>',
    ),
  },
  'gzip-error': {
    effect: 'responds with 500 and a compressed body',
    code: 'agent_status',
    respond: sends(head('500 Oh', 'Content-Encoding: gzip'), gzipSync('{"error": "The tool server is down"}')),
  },
  'endless-error': {
    effect: 'responds with 500 and an endless body',
    code: 'agent_status',
    respond: ({ socket }) => {
      socket.write(head('500 Oh'));
      flood(socket, 'Traceback, most recent call last. '.repeat(100));
    },
  },
  'dripping-error': {
    effect: 'responds with 500 and a body of a few bytes a second, without end',
    code: 'agent_status',
    respond: ({ socket }) => {
      socket.write(`${head('500 Oh')}Wait`);
      const timer = setInterval(() => socket.write('.'), 100);
      socket.once('close', () => clearInterval(timer));
    },
  },
  redirect: {
    effect: 'redirects to another host',
    code: 'redirect',
    respond: sends(head('307 Temporary Redirect', 'Location: https://login.example.com/start?session=4711')),
  },
  'status-204': {
    effect: 'responds with 204',
    code: 'invalid_answer',
    respond: sends(head('204 No Content')),
  },
  'web-page': {
    effect: 'responds with a web page',
    code: 'invalid_answer',
    respond: sends(head('200 OK', 'Content-Type: text/html'), '<!doctype html><title>Welcome</title>'),
  },
  'invalid-utf8': {
    effect: 'streams bytes that are not UTF-8',
    code: 'invalid_answer',
    respond: sends(STREAM, Buffer.from([0x64, 0x61, 0x74, 0x61, 0x3a, 0xff, 0xfe, 0xc0, 0x80, 0x0a, 0x0a])),
  },
  'interim-flood': {
    effect: 'sends interim responses (1xx) without end',
    code: 'bad_response',
    respond: ({ socket }) => flood(socket, 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(10)),
  },
  'not-http': {
    effect: 'sends bytes that are not HTTP',
    code: 'bad_response',
    respond: sends(Buffer.from([0xff, 0, 1, 2, 13, 10, 13, 10])),
  },
  'endless-text': {
    effect: 'talks without end',
    code: 'answer_too_large',
    respond: ({ socket }) => {
      socket.write(STREAM);
      flood(socket, delta({ content: 'and so on '.repeat(800) }));
    },
  },
} as const satisfies Readonly<Record<string, FaultyAgent>>;

export type FaultyAgentName = keyof typeof FAULTY_AGENTS;
export const FAULTY_AGENT_NAMES = Object.keys(FAULTY_AGENTS) as readonly FaultyAgentName[];

interface ReceivedRequest {
  readonly headers: IncomingMessage['headers'];
  readonly url: string;
}

export interface FaultyAgentServer {
  readonly url: string;
  /** All requests so far. */
  readonly requests: readonly ReceivedRequest[];
  close(): Promise<void>;
}

interface Body {
  readonly messages: readonly { readonly role: string }[];
}

/**
 * Starts such an agent on a free loopback port. It answers `goodTurns` turns of each call before it breaks.
 * @param fault the name, or a function that chooses it for each faulty response
 */
export async function startFaultyAgent(
  fault: FaultyAgentName | (() => FaultyAgentName),
  { goodTurns = 1 } = {},
): Promise<FaultyAgentServer> {
  const requests: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    requests.push({ headers: request.headers, url: request.url ?? '' });
    request.socket.on('error', () => undefined);
    void json(request).then((body) => {
      const turn = (body as Body).messages.filter(({ role }) => role === 'user').length;
      if (turn <= goodTurns) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        return response.end(delta({ content: `Good answer ${turn}.` }) + delta({}, 'stop') + event('[DONE]'));
      }
      const name = typeof fault === 'string' ? fault : fault();
      const { authorization = '' } = request.headers;
      // Written past the response, which could only send valid HTTP.
      return FAULTY_AGENTS[name].respond({ socket: request.socket, authorization });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`,
    requests,
    close: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}
