import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Random, resample, TELEPHONE_RATE } from '../../libs/audio/index.js';
import { type ReferenceAgentServer, startReferenceAgent } from '../simulators/agent/index.js';
import { TODAY, VoiceCalls } from '../simulators/agent/testing/voice.js';
import {
  alignmentOf,
  ElevenLabsServer,
  execute,
  says,
  server,
  type ServerMessage,
  tone,
} from '../../libs/simulation/testing/elevenlabs.js';
import { shareOf } from '../../libs/statistics/testing/sample.js';
import { hasVendorTypes, typeErrors } from '../support/vendor-types.js';

const FOLDER = path.resolve(__dirname, '../elevenlabs-agent');
const KEY = 'sk_of_the_test_1234567890';
const AGENT = 'agent_01';
const SCHEDULES = shareOf(200);
const RATE = 16_000;
/** Calls end after 6 s. */
const HEARD = 5.8 * RATE;
const mustRun = process.env['REQUIRE_ALL_TESTS'] === 'true';
if (!hasVendorTypes && !mustRun) {
  console.warn(
    'Skipped: the clients of ElevenLabs, because they are not installed (cd test/elevenlabs-agent && npm ci --ignore-scripts)',
  );
}

type Printed = { readonly type: string } & Record<string, unknown>;
interface Timed {
  readonly atMs: number;
  readonly message: ServerMessage;
}

/** Runs a program of the folder until it ends or `isDone`. @returns its lines of JSON */
async function run<T = Printed>(
  program: string,
  args: readonly string[],
  input: string,
  isDone: (lines: readonly T[]) => boolean = () => false,
): Promise<T[]> {
  const lines: T[] = [];
  const child = spawn(process.execPath, [path.join(FOLDER, program), ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const timer = setTimeout(() => child.kill(), 60_000);
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (/^[{[]/.test(line)) lines.push(JSON.parse(line) as T);
    if (isDone(lines)) child.kill();
  });
  child.stdin.end(input);
  await once(child, 'close');
  clearTimeout(timer);
  return lines;
}

/** Audio whose samples are all different from silence, and from those around them. */
function pieces(random: Random) {
  let next = 0;
  return () => {
    const bytes = Buffer.alloc(2 * Math.round(16 * (20 + random.next() * 600)));
    for (let at = 0; at < bytes.length; at += 2) bytes.writeInt16LE(1 + (next++ % 30_000), at);
    return bytes;
  };
}

/**
 * Audio, interruptions and pieces that come too late, at times of the virtual clock. None has the number of an interruption: the
 * SDK drops it also if it is of a new answer, and the browser client plays it, as the service does
 * (elevenlabs/elevenlabs-python#829).
 */
function randomSchedule(seed: number): Timed[] {
  const random = new Random(seed);
  const piece = pieces(random);
  const whole = (below: number) => Math.floor(random.next() * below);
  const schedule: Timed[] = [];
  let [id, cut] = [1, 0];
  for (let atMs = 10 * whole(20); atMs < 4_000; atMs += 10 * whole(40)) {
    if (random.next() < 0.2) {
      cut = Math.max(1, id - whole(3));
      schedule.push({ atMs, message: server.interruption(cut) });
    } else {
      // Several pieces may have one number, and one of an answer that was interrupted may be late.
      id += whole(3);
      const number = random.next() < 0.25 ? Math.max(1, id - whole(6)) : id;
      if (number !== cut) schedule.push({ atMs, message: server.audio(number, piece()) });
    }
  }
  return schedule;
}

/** What a sound card plays that is fed and emptied as the SDK says. */
function soundCard(
  calls: readonly { readonly at: number; readonly audio?: string; readonly drop?: true }[],
): Int16Array {
  const played = new Int16Array(HEARD);
  let end = 0;
  for (const { at, audio, drop } of calls) {
    const now = (at * RATE) / 1_000;
    if (drop) {
      played.fill(0, now);
      end = Math.min(end, now);
    }
    const bytes = Buffer.from(audio ?? '', 'base64');
    const from = Math.max(end, now);
    for (let n = 0; n < bytes.length >> 1 && from + n < HEARD; n++) played[from + n] = bytes.readInt16LE(2 * n);
    end = from + (bytes.length >> 1);
  }
  return played;
}

(hasVendorTypes || mustRun ? describe : describe.skip)('the packages of ElevenLabs', () => {
  const calls = new VoiceCalls();
  const scratch = mkdtempSync(path.join(tmpdir(), 'vendor-types-'));
  const doubles: ElevenLabsServer[] = [];
  const servers: ReferenceAgentServer[] = [];
  afterEach(async () => {
    for (const double of doubles.splice(0)) await double.stop();
    for (const server of servers.splice(0)) await server.close();
  });
  afterAll(async () => {
    rmSync(scratch, { recursive: true });
    await calls.close();
  });

  async function serve(options: Parameters<typeof ElevenLabsServer.start>[0]) {
    const double = await ElevenLabsServer.start({ apiKey: KEY, agentId: AGENT, ...options });
    doubles.push(double);
    return double;
  }

  async function serveReferenceAgent() {
    const elevenlabs = { prepare: () => calls.prepare(), now: () => TODAY, apiKey: KEY };
    const agent = await startReferenceAgent({ port: 0, elevenlabs });
    servers.push(agent);
    return agent.url;
  }

  async function spoken(text: string): Promise<string> {
    const { pcm } = await calls.synthesiser.synthesise({ text, voice: 'slt' });
    const wide = resample(pcm, TELEPHONE_RATE, RATE);
    return Buffer.from(wide.buffer, wide.byteOffset, wide.byteLength).toString('base64');
  }

  it(`play in ${SCHEDULES} random schedules the samples that are heard here`, async () => {
    const schedules = Array.from({ length: SCHEDULES }, (_, seed) => randomSchedule(seed + 1));
    const played = await run<Parameters<typeof soundCard>[0]>('player.mjs', [], JSON.stringify(schedules));
    expect(played).toHaveLength(SCHEDULES);
    const unlike: number[] = [];
    let heardSamples = 0;
    for (const [index, schedule] of schedules.entries()) {
      const onStart = [
        { send: [server.metadata()] },
        ...schedule.map(({ atMs, message }) => ({ afterMs: atMs, send: [message] })),
      ];
      const { heard } = await execute({ onStart });
      const expected = soundCard(played[index]!);
      heardSamples += expected.filter((sample) => sample !== 0).length;
      if (Buffer.compare(Buffer.from(heard.slice(0, HEARD).buffer), Buffer.from(expected.buffer)) !== 0)
        unlike.push(index + 1);
    }
    expect(unlike).toEqual([]);
    expect(heardSamples).toBeGreaterThan(SCHEDULES * RATE);
    expect(schedules.flat().filter(({ message }) => message.type === 'interruption').length).toBeGreaterThan(SCHEDULES);
  }, 180_000);

  it('know every message of the double, and every message that is sent to the platform', async () => {
    const { agent } = await execute(
      {
        onStart: [{ send: [server.metadata(), server.ping(1), server.clientTool('t1', 'find_table', { people: 4 })] }],
      },
      undefined,
      { variables: { name: 'Rossi' } },
    );
    const sent = agent.received.map(({ atMs: _, ...message }) => message);
    const of = (type: string) => sent.some((message) => message.type === type);
    expect(['conversation_initiation_client_data', 'pong', 'client_tool_result'].filter((type) => !of(type))).toEqual(
      [],
    );
    const ours = [
      ...sent,
      { user_audio_chunk: 'AAAA' },
      { type: 'user_activity' },
      { type: 'user_message', text: 'Hello' },
      {
        type: 'conversation_initiation_client_data',
        conversation_config_override: { conversation: { text_only: true } },
      },
    ];
    const theirs = [
      ...[server.metadata(), server.metadata({ toAgent: 'ulaw_8000', fromAgent: 'pcm_48000' })],
      ...[server.audio(1, tone(20)), server.audio(2, tone(20), alignmentOf('Hi', 20)), server.response('Hi')],
      ...[server.correction('Hello', 'Hel'), server.part('start'), server.part('delta', 'Hi'), server.part('stop')],
      ...[server.heard('Hi'), server.interruption(3), server.ping(4), server.clientTool('t', 'book', { people: 4 })],
      ...[
        server.toolRequest('t', 'search'),
        server.toolResponse('t', 'end_call'),
        server.fullToolResponse('t', 's', '{}'),
      ],
      ...[server.vadScore(0.5), server.guardrail(), server.error(1011, 'llm_timeout', 'Too slow')],
    ];
    expect(theirs).toHaveLength(Object.keys(server).length + 4);
    expect(typeErrors(path.join(scratch, 'double.ts'), [...ours, ...theirs])).toEqual([]);
    // It would find something.
    const wrong = [
      { ...server.ping(1), ping_event: { event_id: '1' } },
      { ...server.heard('Hi'), more: 1 },
    ];
    expect(typeErrors(path.join(scratch, 'wrong.ts'), wrong)).toHaveLength(2);
  });

  it('talk to the double over voice, from the key to the end of the call', async () => {
    const answer = [
      server.heard('Hello.'),
      server.clientTool('t1', 'find_table', { people: 4 }),
      ...says(21, 'Yes?', 2_000),
    ];
    const cut = [
      server.interruption(40),
      server.audio(40, tone(100)),
      server.correction('Yes?', 'Y'),
      server.ping(9, 30),
    ];
    const double = await serve({
      script: {
        onStart: [{ send: [server.metadata(), ...says(1, 'Good evening.', 1_000)] }],
        onTurn: [[{ send: answer }, { afterMs: 500, send: cut, close: { code: 1000 } }]],
      },
    });
    const printed = await run('caller.mjs', [double.url, KEY, AGENT], await spoken('Hello, a table for four, please.'));
    const of = (type: string) => printed.filter((one) => one.type === type);
    expect(of('error')).toEqual([]);
    expect(of('response').map(({ text }) => text)).toEqual(['Good evening.', 'Yes?']);
    expect(of('audio')).toHaveLength(30);
    expect(of('interrupt')).toHaveLength(1);
    expect(of('correction')).toEqual([{ type: 'correction', original: 'Yes?', corrected: 'Y' }]);
    expect(of('heard')).toEqual([{ type: 'heard', text: 'Hello.' }]);
    expect(of('latency')).toEqual([{ type: 'latency', ms: 30 }]);
    expect(of('ended')).toEqual([{ type: 'ended', code: 1000 }]);
    const [agent] = double.agents;
    expect(agent!.of('client_tool_result')).toMatchObject([
      { tool_call_id: 't1', result: 'A table for 4', is_error: false },
    ]);
    expect(agent!.of('pong')).toMatchObject([{ event_id: 9 }]);
    expect(double.upgrades[0]!.url).toContain('source=js_sdk');
    expect(double.openCalls).toBe(0);
  }, 90_000);

  it('read the list of agents of the double, page by page, and what each of them says of itself', async () => {
    const agents = [
      { id: 'agent_01', name: 'Bella Vista', language: 'it', prompt: 'You take bookings.', phoneNumber: '+15550100' },
      { id: 'agent_02', name: 'Bare' },
      { id: 'agent_03', name: 'One more' },
    ];
    const double = await serve({ agents });
    const accounts = [
      [double.url, KEY, '2'],
      [double.url, 'sk_another', '2'],
      [await serveReferenceAgent(), KEY, '100'],
    ];
    const lines = await run('lister.mjs', accounts.flat(), '');
    const [printed, refused, listed] = accounts.map((_, index) =>
      lines.filter(({ account }) => account === index).map(({ account: _account, ...line }) => line),
    );
    expect(printed!.filter(({ type }) => type === 'page').map(({ names }) => names)).toEqual([
      ['Bella Vista', 'Bare'],
      ['One more'],
    ]);
    expect(printed!.filter(({ type }) => type === 'agent')).toEqual([
      {
        ...{ type: 'agent', id: 'agent_01', name: 'Bella Vista', language: 'it', prompt: 'You take bookings.' },
        numbers: [{ phoneNumber: '+15550100', phoneNumberId: 'agent_01-phone' }],
      },
      { type: 'agent', id: 'agent_02', name: 'Bare', numbers: [] },
      { type: 'agent', id: 'agent_03', name: 'One more', numbers: [] },
    ]);
    // The vendor's client asks for what is asked for here.
    const paths = double.requests.map(({ url }) => new URL(url, double.url).pathname);
    expect(new Set(paths)).toEqual(
      new Set(['/v1/convai/agents', ...agents.map(({ id }) => `/v1/convai/agents/${id}`)]),
    );
    expect(refused).toEqual([{ type: 'error', status: 401 }]);
    const ids = listed!.filter(({ type }) => type === 'agent').map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(['booking', 'booking:wrong-fact', 'booking:false-interruption']));
  }, 60_000);

  it('talk to the double in text, which has the order of messages that the client needs', async () => {
    const onTurn = [
      [
        {
          send: [
            server.part('start'),
            server.part('delta', 'At '),
            server.part('delta', 'noon.'),
            server.part('stop'),
            server.response('At noon.'),
          ],
        },
      ],
    ];
    const late = { afterMs: 100, send: [server.response('Good evening.')] };
    const double = await serve({ script: { onStart: [{ send: [server.metadata()] }, late], onTurn } });
    const signed = await fetch(`${double.url}/v1/convai/conversation/get-signed-url?agent_id=${AGENT}`, {
      headers: { 'xi-api-key': KEY },
    });
    const { signed_url: url } = (await signed.json()) as { signed_url: string };
    const printed = await run('writer.mjs', [url, 'When are you open?'], '', (lines) =>
      lines.some(({ message }) => message === 'At noon.'),
    );
    expect(printed.filter(({ type }) => type === 'error')).toEqual([]);
    expect(printed.filter(({ type }) => type === 'part').map(({ text }) => text)).toEqual(['', 'At ', 'noon.', '']);
    const [first, message] = double.agents[0]!.received;
    expect(first).toMatchObject({ conversation_config_override: { conversation: { text_only: true } } });
    expect(message).toMatchObject({ type: 'user_message', text: 'When are you open?' });
    expect(double.upgrades[0]!.headers['sec-websocket-protocol']).toBe('convai');
  }, 60_000);

  it('talk to the reference agent over voice and in text', async () => {
    const url = await serveReferenceAgent();
    const voice = await run(
      'caller.mjs',
      [url, KEY, 'booking'],
      await spoken('When are you open?'),
      (lines) => lines.filter(({ type }) => type === 'response').length >= 2,
    );
    expect(voice.filter(({ type }) => type === 'error')).toEqual([]);
    expect(voice.filter(({ type }) => type === 'response')[0]).toMatchObject({
      text: expect.stringContaining('Bella Vista') as string,
    });
    const signed = await fetch(`${url}/v1/convai/conversation/get-signed-url?agent_id=booking`, {
      headers: { 'xi-api-key': KEY },
    });
    const { signed_url: address } = (await signed.json()) as { signed_url: string };
    const text = await run('writer.mjs', [address, 'When are you open?'], '', (lines) =>
      lines.some(({ message }) => String(message).includes('open from')),
    );
    expect(text.filter(({ type }) => type === 'error')).toEqual([]);
    expect(text.filter(({ type }) => type === 'message').at(-1)).toMatchObject({
      message: expect.stringContaining('open from') as string,
    });
    const received = [...voice, ...text].flatMap(({ type, event }) =>
      type === 'event' ? [event as ServerMessage] : [],
    );
    expect(new Set(received.map(({ type }) => type)).size).toBeGreaterThanOrEqual(6);
    expect(typeErrors(path.join(scratch, 'reference.ts'), received)).toEqual([]);
  }, 120_000);
});
