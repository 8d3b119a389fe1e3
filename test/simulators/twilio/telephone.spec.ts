import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import WebSocket from 'ws';
import { encodeMulaw } from '../../../libs/audio/index.js';
import { type ReferenceAgentServer, startReferenceAgent } from '../agent/server.js';
import { behaviourOf } from '../agent/faults.js';
import { FACTS } from '../agent/restaurant.js';
import { COLLEAGUE, type TelephoneOptions } from './telephone.js';
import { melodies, melody, sequence, silence } from '../agent/voice/testing/melody.js';
import { Voice } from '../agent/voice/voice.js';
import type { AnswerStamp } from '../agent/voice/voice-agent.js';
import { HEALTHY_VOICE } from '../agent/voice/voice-faults.js';

const AUTH_TOKEN = 'a-token-of-the-test';
const HELLO = 'Hello, do you have parking?';
const CALL_SID = `CA${'c3'.repeat(16)}`;
const STREAM_SID = `MZ${'d4'.repeat(16)}`;

let server: ReferenceAgentServer;
let stamps: { callSid: string; stamp: AnswerStamp }[] = [];

async function start(options: Partial<TelephoneOptions> = {}) {
  stamps = [];
  const onAnswer = (callSid: string, stamp: AnswerStamp) => void stamps.push({ callSid, stamp });
  server = await startReferenceAgent({
    port: 0,
    telephone: { onAnswer, prepare: async () => melodies([HELLO]), ...options },
  });
}
afterEach(() => server.close());

/** The signature of Twilio's documentation, written independently of the agent's. */
function sign(url: string, form: Readonly<Record<string, string>> = {}): string {
  const text = Object.keys(form)
    .sort()
    .reduce((signed, name) => signed + name + form[name], url);
  return createHmac('sha1', AUTH_TOKEN).update(text).digest('base64');
}

function webhook(path: string, form: Readonly<Record<string, string>>, signature?: string) {
  return fetch(`${server.url}${path}`, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers: signature === undefined ? {} : { 'X-Twilio-Signature': signature },
  });
}

const address = (path: string) => `${server.url.replace('http:', 'ws:')}${path}`;

/** Connects as Twilio does. @returns the socket, or the status of the refusal */
async function connect(path: string, signature?: string): Promise<WebSocket | number> {
  const socket = new WebSocket(address(path), {
    headers: signature === undefined ? {} : { 'X-Twilio-Signature': signature },
  });
  return new Promise((resolve, reject) => {
    socket.on('open', () => resolve(socket));
    socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
    socket.on('error', reject);
  });
}

/** Streams a call in real time. @returns the messages of the agent */
async function stream(socket: WebSocket, pcm: Int16Array, untilDone: (events: readonly string[]) => boolean) {
  const events: string[] = [];
  let bytes = 0;
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as { event: string; media?: { payload: string } };
    events.push(message.event);
    bytes += Buffer.from(message.media?.payload ?? '', 'base64').length;
  });
  const send = (message: object) => socket.send(JSON.stringify({ streamSid: STREAM_SID, ...message }));
  send({ event: 'connected', protocol: 'Call', version: '1.0.0' });
  send({ event: 'start', start: { streamSid: STREAM_SID, callSid: CALL_SID } });
  const track = encodeMulaw(pcm);
  const startedAt = performance.now();
  for (let chunk = 0; !untilDone(events) && chunk < 1_000; chunk += 1) {
    const frame = Buffer.alloc(160, 0xff);
    frame.set(track.subarray(chunk * 160, chunk * 160 + 160));
    send({ event: 'media', media: { timestamp: String(chunk * 20), payload: frame.toString('base64') } });
    const wait = startedAt + (chunk + 1) * 20 - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
  }
  return { events, bytes };
}

/** Two seconds. */
const SAID_BYTES = 16_000;

/** The beginning of the opening hours, which the key 1 asks for. */
async function hoursSaidAt(path: string): Promise<Buffer> {
  const socket = await connect(path);
  if (!(socket instanceof WebSocket)) throw new Error(`refused: ${socket}`);
  const said: Buffer[] = [];
  const isEnough = new Promise<void>((resolve) => {
    let isGreeting = true;
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as { event: string; media?: { payload: string } };
      if (message.event === 'clear') isGreeting = false;
      else if (message.media && !isGreeting) said.push(Buffer.from(message.media.payload, 'base64'));
      if (Buffer.concat(said).length >= SAID_BYTES) resolve();
    });
  });
  socket.send(JSON.stringify({ event: 'start', start: { streamSid: STREAM_SID, callSid: CALL_SID } }));
  socket.send(JSON.stringify({ event: 'dtmf', streamSid: STREAM_SID, dtmf: { digit: '1' } }));
  await isEnough;
  socket.terminate();
  return Buffer.concat(said).subarray(0, SAID_BYTES);
}

describe('telephone of the reference agent', () => {
  it('answers the webhook with a stream to the same host', async () => {
    await start();
    const { host } = new URL(server.url);
    const response = await webhook('/voice', { CallSid: CALL_SID });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('text/xml');
    expect(await response.text()).toBe(
      '<?xml version="1.0" encoding="UTF-8"?><Response><Connect action="/voice/ended">' +
        `<Stream url="wss://${host}/media"/></Connect></Response>`,
    );
  });

  it('names the public address, and the fault of the path', async () => {
    await start({ publicUrl: 'https://bella.example' });
    const text = await (await webhook('/agents/booking:slow-answer/voice', {})).text();
    expect(text).toContain('url="wss://bella.example/agents/booking:slow-answer/media"');
    expect(text).toContain('action="/agents/booking:slow-answer/voice/ended"');
  });

  it('names the faults that exist over the protocol in place of one that does not', async () => {
    await start();
    const response = await webhook('/agents/booking:no-answer/voice', {});
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('faults over twilio-media-streams: slow-answer, interrupts-caller, ');
    expect(await connect('/agents/booking:no-answer/media')).toBe(404);
  });

  it('has a fault in its words if the address names one', async () => {
    await start();
    expect((await webhook('/agents/booking:wrong-fact/voice', {})).status).toBe(200);
    // As the testing service inserts an `assistantId`.
    expect((await webhook('/agents/booking%3Awrong-fact/voice', {})).status).toBe(200);
    const saying = (text: string) => Buffer.from(new Voice(melody).say(text, HEALTHY_VOICE)!).subarray(0, SAID_BYTES);
    expect(await hoursSaidAt('/agents/booking:healthy/media')).toEqual(saying(FACTS.hours));
    const wrong = saying(behaviourOf('wrong-fact').facts.hours);
    expect(await hoursSaidAt('/agents/booking:wrong-fact/media')).toEqual(wrong);
    expect(await hoursSaidAt('/agents/booking%3Awrong-fact/media')).toEqual(wrong);
    expect(wrong).not.toEqual(saying(FACTS.hours));
  });

  it('refuses a webhook and a stream that Twilio has not signed', async () => {
    await start({ authToken: AUTH_TOKEN });
    const form = { CallSid: CALL_SID, From: '+15550100001', CallStatus: 'ringing' };
    const right = sign(`${server.url}/voice`, form);
    expect((await webhook('/voice', form, right)).status).toBe(200);
    expect((await webhook('/voice', { ...form, From: '+15550100002' }, right)).status).toBe(403);
    expect((await webhook('/voice', form)).status).toBe(403);
    const wss = server.url.replace('http:', 'wss:');
    expect(await connect('/media')).toBe(403);
    expect(await connect('/media', sign(`${wss}/other`))).toBe(403);
    const socket = await connect('/media', sign(`${wss}/media`));
    expect(socket).toBeInstanceOf(WebSocket);
    if (socket instanceof WebSocket) socket.terminate();
  });

  it('refuses upgrades of other paths', async () => {
    await start();
    expect(await connect('/voice')).toBe(404);
    expect(await connect('/v1/chat/completions')).toBe(404);
  });

  it('holds a call in real time and gives its own times', async () => {
    await start({ responseMs: 300 });
    const socket = await connect('/media');
    if (!(socket instanceof WebSocket)) throw new Error(`refused: ${socket}`);
    const audio = sequence(silence(4_000), melody(HELLO));
    const { events, bytes } = await stream(
      socket,
      audio,
      (all) => all.filter((event) => event === 'mark').length === 2,
    );
    expect(bytes).toBeGreaterThan(8_000);
    expect(new Set(events)).toEqual(new Set(['media', 'mark']));
    expect(stamps).toHaveLength(1);
    const { callSid, stamp } = stamps[0]!;
    expect({ callSid, heard: stamp.heard }).toEqual({ callSid: CALL_SID, heard: HELLO });
    expect(stamp.firstByteMs - stamp.callerEndMs).toBeGreaterThanOrEqual(300);
    expect(stamp.firstByteMs - stamp.callerEndMs).toBeLessThan(2_000);
    socket.terminate();
  });

  it('puts a caller who has pressed 0 through to a colleague', async () => {
    await start();
    const socket = await connect('/media');
    if (!(socket instanceof WebSocket)) throw new Error(`refused: ${socket}`);
    socket.send(JSON.stringify({ event: 'start', start: { streamSid: STREAM_SID, callSid: CALL_SID } }));
    socket.send(JSON.stringify({ event: 'dtmf', streamSid: STREAM_SID, dtmf: { digit: '0' } }));
    // Everything counts as played at once.
    socket.on('message', (data: Buffer) => {
      if ((JSON.parse(data.toString()) as { event: string }).event === 'mark') socket.send(data.toString());
    });
    await once(socket, 'close');
    const after = await (await webhook('/voice/ended', { CallSid: CALL_SID })).text();
    expect(after).toContain(`<Dial>${COLLEAGUE}</Dial>`);
    expect(await (await webhook('/voice/ended', { CallSid: CALL_SID })).text()).toContain('<Hangup/>');
  });
});
