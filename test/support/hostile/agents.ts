import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { WebSocket } from 'ws';
import { Random } from '../../../libs/audio/index.js';
import { type Answer, type Exchange, sendAnswer } from './exchange-proxy.js';

type Message = string | Buffer;
type AnswerAttack = (answer: Answer, response: ServerResponse, random: Random) => void;
/** @param index of the message in its connection; a later call of the same attack may end the connection */
type MessageAttack = (message: Message, socket: WebSocket, random: Random, index: number) => void;

const MIB = 1024 * 1024;
const DRIP_MS = 100;
/** 64 MiB in 64 kB. */
const BOMB = gzipSync(Buffer.alloc(64 * MIB, ' '));
const OTHER_TYPES: readonly unknown[] = [null, true, -1, 1e308, 0.5, '', 'x', [], [[1]], {}, { a: null }, '__proto__'];

const pick = <T>(values: readonly T[], random: Random): T => values[Math.floor(random.next() * values.length)]!;
const bytesOf = (random: Random, length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => Math.floor(random.next() * 256)));

/** The JSON lines of a body, which may be a stream of events, each changed. */
function eachJson(text: string, change: (value: unknown) => unknown): string {
  const changed = (json: string) => {
    try {
      return JSON.stringify(change(JSON.parse(json)));
    } catch {
      return json;
    }
  };
  return text.startsWith('data:') ? text.replace(/(?<=^data: ).*$/gm, changed) : changed(text);
}

function everyValue(value: unknown, change: (value: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return change(value);
  if (Array.isArray(value)) return value.map((item) => everyValue(item, change));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, everyValue(inner, change)]));
}

const retyped = (text: string, random: Random) =>
  eachJson(text, (value) => everyValue(value, (inner) => (random.next() < 0.5 ? pick(OTHER_TYPES, random) : inner)));
const everyText = (text: string, change: (text: string) => string) =>
  eachJson(text, (value) => everyValue(value, (inner) => (typeof inner === 'string' ? change(inner) : inner)));
const everyNumber = (text: string, change: (value: number) => number) =>
  eachJson(text, (value) => everyValue(value, (inner) => (typeof inner === 'number' ? change(inner) : inner)));
const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

/** Sends a body byte by byte, up to 20 s. */
async function drip(response: ServerResponse, body: Buffer): Promise<void> {
  for (const byte of body.subarray(0, 200)) {
    if (response.destroyed) return;
    response.write(Buffer.from([byte]));
    await sleep(DRIP_MS);
  }
  response.destroy();
}

/** Comments of a stream of events, 64 kB at a time, up to 20 s. */
async function comments(answer: Answer, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let n = 0; n < 200 && !response.destroyed; n++) {
    response.write(`: ${'x'.repeat(64 * 1024)}\n\n`);
    await sleep(DRIP_MS);
  }
  response.end(answer.body);
}

const text = ({ body }: Answer): string => body.toString('utf8');

/** What a hostile agent answers over HTTP. */
export const ANSWER_ATTACKS: Readonly<Record<string, AnswerAttack>> = {
  cut: ({ headers, body }, response, random) => {
    response.writeHead(200, { 'content-type': headers['content-type'] ?? 'text/plain', 'content-length': body.length });
    response.write(body.subarray(0, Math.floor(random.next() * body.length)), () => response.destroy());
  },
  'cut JSON': (answer, response, random) =>
    sendAnswer(response, answer, answer.body.subarray(0, Math.floor(random.next() * answer.body.length))),
  'other types': (answer, response, random) => sendAnswer(response, answer, retyped(text(answer), random)),
  'huge texts': (answer, response) =>
    sendAnswer(
      response,
      answer,
      everyText(text(answer), () => 'x'.repeat(MIB)),
    ),
  'U+0000 and half pairs': (answer, response) =>
    sendAnswer(
      response,
      answer,
      everyText(text(answer), (said) => `\u0000${said}\ud800`),
    ),
  'other statuses': (answer, response, random) =>
    sendAnswer(
      response,
      { ...answer, status: pick([204, 205, 301, 304, 401, 404, 413, 429, 500, 503, 599], random) },
      '',
    ),
  'a redirection to itself': ({ path }, response) => void response.writeHead(307, { location: path }).end(),
  drip: ({ headers, body }, response) => {
    response.writeHead(200, { 'content-type': headers['content-type'] ?? 'text/plain' });
    void drip(response, body);
  },
  'a bomb': ({ headers }, response) =>
    void response
      .writeHead(200, { 'content-type': headers['content-type'] ?? 'text/plain', 'content-encoding': 'gzip' })
      .end(BOMB),
  'random bytes': (answer, response, random) => sendAnswer(response, answer, bytesOf(random, 10_000)),
  'no answer': (_answer, response) => void response.destroy(),
  'no HTTP': (_answer, response) => void response.socket?.end('\u0000\u0001 HTTP/9.9\r\n\r\n'),
  'a reset after the headers': ({ headers }, response) => {
    response.writeHead(200, { 'content-type': headers['content-type'] ?? 'text/plain' });
    response.flushHeaders();
    response.socket?.resetAndDestroy();
  },
  'deep JSON': (answer, response) => sendAnswer(response, answer, deep(500_000)),
  'many names': (answer, response) =>
    sendAnswer(response, answer, `{${Array.from({ length: 100_000 }, (_, n) => `"n${n}":${n}`).join(',')}}`),
  'another type of content': (answer, response) =>
    sendAnswer(response, { ...answer, headers: { 'content-type': 'image/png; charset=utf-7' } }, answer.body),
  'endless comments': (answer, response) => void comments(answer, response),
  'huge headers': (answer, response) =>
    sendAnswer(response, { ...answer, headers: { ...answer.headers, 'x-large': 'x'.repeat(15_000) } }, answer.body),
  'everything three times': (answer, response) =>
    sendAnswer(response, answer, Buffer.concat([answer.body, answer.body, answer.body])),
  'no words': (answer, response) => sendAnswer(response, answer, ''),
};

/** The TCP connection below a WebSocket. */
const rawOf = (socket: WebSocket): Socket => (socket as unknown as { readonly _socket: Socket })._socket;

const isOpen = (socket: WebSocket): boolean => socket.readyState === socket.OPEN;
const bytesOfMessage = (message: Message): Buffer => Buffer.from(message);
const onText =
  (change: (text: string, random: Random) => string): MessageAttack =>
  (message, socket, random) =>
    socket.send(typeof message === 'string' ? change(message, random) : message);
/** Beside the first message; all messages are sent. */
const once =
  (attack: (socket: WebSocket, random: Random) => void): MessageAttack =>
  (message, socket, random, index) => {
    socket.send(message);
    if (index === 0) attack(socket, random);
  };
/** In place of the message with which it begins: later ones are lost. */
const instead =
  (attack: (socket: WebSocket, random: Random) => void): MessageAttack =>
  (message, socket, random, index) => {
    const from = Math.floor(random.next() * 4);
    if (index < from) socket.send(message);
    else if (index === from) attack(socket, random);
  };
const frames = (...hex: readonly string[]) =>
  instead((socket) => rawOf(socket).write(Buffer.from(hex.join(''), 'hex')));

/** What a hostile agent does with the messages of a WebSocket. */
export const MESSAGE_ATTACKS: Readonly<Record<string, MessageAttack>> = {
  'cut JSON': onText((json, random) => json.slice(0, Math.floor(random.next() * json.length))),
  'other types': onText(retyped),
  'huge texts': onText((json) => everyText(json, () => 'x'.repeat(MIB))),
  'U+0000 and half pairs': onText((json) => everyText(json, (said) => `\u0000${said}\ud800`)),
  'time that goes back': onText((json) => everyNumber(json, (value) => -value)),
  'huge numbers': onText((json) => everyNumber(json, (value) => value * 1e300)),
  'binary messages where text is due': (message, socket) =>
    socket.send(message, { binary: typeof message === 'string' }),
  'each message 200 times': (message, socket) => {
    for (let n = 0; n < 200; n++) socket.send(message);
  },
  'a close': instead((socket, random) =>
    socket.close(pick([1000, 1001, 1008, 1011, 3000, 4999], random), 'x'.repeat(100)),
  ),
  'a close with U+0000': instead((socket) => socket.close(1011, 'a\u0000b')),
  'a reset': instead((socket) => rawOf(socket).resetAndDestroy()),
  silence: instead(() => undefined),
  pings: once((socket) => {
    for (let n = 0; n < 20_000 && isOpen(socket); n++) socket.ping(Buffer.alloc(125));
  }),
  'random text': (message, socket, random) =>
    socket.send(bytesOf(random, bytesOfMessage(message).length).toString('utf8')),
  'a compressed frame': frames('c10548656c6c6f'),
  'invalid UTF-8': frames('8102c328'),
  'a masked frame': frames('818537fa213d7f9f4d5158'),
  'a reserved opcode': frames('8b00'),
  'a close frame of one byte': frames('880103'),
  'a frame of 2^62 bytes': frames('827f', '4000000000000000'),
  'a message that never ends': instead((socket) => {
    const send = () => isOpen(socket) && socket.send('x'.repeat(1_000), { fin: false }, () => setTimeout(send, 10));
    send();
  }),
  'a message byte by byte': instead((socket) => {
    const frame = Buffer.concat([Buffer.from('817e07d0', 'hex'), Buffer.alloc(2_000, 'x')]);
    const send = (at: number) =>
      at < frame.length &&
      isOpen(socket) &&
      rawOf(socket).write(frame.subarray(at, at + 1), () => setTimeout(send, 50, at + 1));
    send(0);
  }),
  'deep JSON': once((socket) => socket.send(deep(1_000_000))),
};

/** Misbehaves by the number of the variant, which also seeds the details: the same numbers, the same agents. */
export class HostileAgents implements Exchange {
  answer(variant: string, answer: Answer, response: ServerResponse): void {
    const [stage, number] = stageOf(variant);
    if (stage !== 'answers') return sendAnswer(response, answer, answer.body);
    Object.values(ANSWER_ATTACKS)[number % Object.keys(ANSWER_ATTACKS).length]!(answer, response, new Random(number));
  }

  message(variant: string, data: Message, index: number, socket: WebSocket): void {
    const [stage, number] = stageOf(variant);
    if (stage !== 'messages' || !isOpen(socket)) return isOpen(socket) ? socket.send(data) : undefined;
    const attack = Object.values(MESSAGE_ATTACKS)[number % Object.keys(MESSAGE_ATTACKS).length]!;
    attack(data, socket, new Random(number), index);
  }
}

/** `answers-7`: the seventh attack by answers over HTTP. */
function stageOf(variant: string): [stage: string, number: number] {
  const [stage = '', number = '0'] = variant.split('-');
  return [stage, Number(number)];
}
