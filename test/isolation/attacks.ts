import type { ServerResponse } from 'node:http';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import type { WebSocket } from 'ws';

/** What a hostile agent does with a stream until the socket is closed. */
type Attack = (socket: WebSocket, streamSid: string) => Promise<void>;

/** Unsent bytes above which a flood waits, as an attacker with a fast connection would. */
const MAX_UNSENT = 4 * 1024 * 1024;
/** Messages between two looks at the socket. */
const BATCH = 500;
const SECOND = Buffer.alloc(8_000, 0x80).toString('base64');

const isOpen = (socket: WebSocket): boolean => socket.readyState === socket.OPEN;

/** Sends without pause, as fast as the other side reads. @param send one message; its number counts from 0 */
async function flood(socket: WebSocket, send: (number: number) => void, total = Infinity): Promise<void> {
  for (let sent = 0; sent < total && isOpen(socket);) {
    for (let n = 0; n < BATCH && sent < total; n++) send(sent++);
    await turn();
    while (socket.bufferedAmount > MAX_UNSENT && isOpen(socket)) await sleep(5);
  }
}

const media = (streamSid: string, payload: string) => JSON.stringify({ event: 'media', streamSid, media: { payload } });
const mark = (streamSid: string, name: string) => JSON.stringify({ event: 'mark', streamSid, mark: { name } });

/** Sends what is expensive to read once, and stays on the line. */
async function sendAndStay(socket: WebSocket, messages: readonly string[]): Promise<void> {
  for (const message of messages) socket.send(message);
  while (isOpen(socket)) await sleep(100);
}

const audioOf = (seconds: number): string => Buffer.alloc(8_000 * seconds, 0x91).toString('base64');
/** As much as a call may get at once. */
const LONG_SECONDS = 500;
/** 8 MiB, nothing of it in a string. */
const STRUCTURE = '{},'.repeat(Math.floor((8 * 1024 * 1024) / 3));

/** By the last part of the agent's address. */
export const STREAM_ATTACKS: Readonly<Record<string, Attack>> = {
  'one-byte-media': (socket, sid) => {
    const message = media(sid, Buffer.from([0x80]).toString('base64'));
    return flood(socket, () => socket.send(message));
  },
  junk: (socket) => flood(socket, (n) => socket.send(n % 2 === 0 ? `{"event":"junk ${n}","a":[[[` : `{"event":${n}}`)),
  'empty-frames': (socket) => flood(socket, () => socket.send('')),
  pongs: (socket) => flood(socket, () => socket.pong(Buffer.alloc(125))),
  marks: async (socket, sid) => {
    // Behind sound, so that none of them is echoed at once.
    for (let n = 0; n < 60; n++) socket.send(media(sid, SECOND));
    await flood(socket, (n) => socket.send(mark(sid, `mark ${n}`)), 1_000_000);
  },
  'play-and-clear': (socket, sid) => {
    const [play, clear] = [media(sid, SECOND), JSON.stringify({ event: 'clear', streamSid: sid })];
    return flood(socket, (n) => socket.send(n % 2 === 0 ? play : clear));
  },
  'endless-audio': (socket, sid) => {
    const message = media(sid, SECOND);
    return flood(socket, () => socket.send(message));
  },
  'large-message': (socket, sid) => {
    const payload = 'A'.repeat(100 * 1024 * 1024);
    return flood(socket, () => socket.send(media(sid, payload)), 1);
  },
  'long-audio': (socket, sid) => sendAndStay(socket, [media(sid, audioOf(LONG_SECONDS))]),
  'long-audio-in-parts': (socket, sid) => sendAndStay(socket, Array(LONG_SECONDS).fill(media(sid, audioOf(1)))),
  'long-audio-in-five': (socket, sid) => sendAndStay(socket, Array(5).fill(media(sid, audioOf(LONG_SECONDS / 5)))),
  structure: (socket) => sendAndStay(socket, [STRUCTURE]),
  'realtime-structure': (socket) => sendAndStay(socket, [STRUCTURE]),
  'endless-fragments': (socket) => {
    const part = 'x'.repeat(1_024);
    return flood(socket, () => socket.send(part, { fin: false }));
  },
};

/** Over another protocol than Twilio's Media Streams: the attack begins with the first message of the caller. */
export const isRealtime = (attack: string): boolean => attack.startsWith('realtime-');

const SLOW_PLAY = 'slow-play';
export const VOICE_ATTACKS: readonly string[] = [...Object.keys(STREAM_ATTACKS), SLOW_PLAY];

/** Answers the webhook of `slow-play` with sounds that arrive byte by byte. @param host of this server */
export async function slowPlay(path: string, host: string, response: ServerResponse): Promise<void> {
  if (path === `/${SLOW_PLAY}`) {
    const plays = Array.from({ length: 100 }, (_, n) => `<Play>http://${host}/sound/${n}</Play>`).join('');
    response.setHeader('Content-Type', 'text/xml');
    response.end(`<Response>${plays}<Redirect>http://${host}/${SLOW_PLAY}</Redirect></Response>`);
    return;
  }
  response.setHeader('Content-Type', 'audio/wav');
  while (!response.destroyed) {
    response.write('R');
    await sleep(1_000);
  }
}
