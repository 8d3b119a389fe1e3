import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { encodeMulaw, resample, TELEPHONE_RATE } from '../../libs/audio/index.js';
import { type ReferenceAgentServer, startReferenceAgent } from '../simulators/agent/index.js';
import { TODAY, VoiceCalls } from '../simulators/agent/testing/voice.js';
import {
  alignment,
  audio,
  chatCalls,
  chatResult,
  chatSays,
  client as messages,
  execute,
  progress,
  says,
  VapiServer,
} from '../../libs/simulation/testing/vapi.js';
import { hasVapiTypes, typeErrors, VAPI_TYPES } from '../support/vendor-types.js';

const KEY = 'sk_1234567890abcdef';
const mustRun = process.env['REQUIRE_ALL_TESTS'] === 'true';
if (!hasVapiTypes && !mustRun) {
  console.warn(
    'Skipped: the client of Vapi, because it is not installed (cd test/vapi-agent && npm ci --ignore-scripts)',
  );
}

type Printed = { readonly type: string } & Record<string, unknown>;

/** Runs the caller until it ends. @returns its lines of JSON */
async function run(url: string, assistant: string, format: string, line: string): Promise<Printed[]> {
  const lines: Printed[] = [];
  const child = spawn(process.execPath, [path.resolve('test/vapi-agent/caller.mjs'), url, KEY, assistant, format], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const timer = setTimeout(() => child.kill(), 60_000);
  createInterface({ input: child.stdout }).on('line', (text) => lines.push(JSON.parse(text) as Printed));
  child.stdin.end(line);
  await once(child, 'close');
  clearTimeout(timer);
  return lines;
}

(hasVapiTypes || mustRun ? describe : describe.skip)('the server SDK of Vapi', () => {
  const calls = new VoiceCalls();
  const scratch = mkdtempSync(path.join(tmpdir(), 'vendor-types-'));
  const doubles: VapiServer[] = [];
  const servers: ReferenceAgentServer[] = [];
  afterEach(async () => {
    for (const double of doubles.splice(0)) await double.stop();
    for (const server of servers.splice(0)) await server.close();
  });
  afterAll(async () => {
    rmSync(scratch, { recursive: true });
    await calls.close();
  });

  async function spoken(text: string, format: 'pcm_s16le' | 'mulaw'): Promise<string> {
    const { pcm } = await calls.synthesiser.synthesise({ text, voice: 'slt' });
    if (format === 'mulaw') return Buffer.from(encodeMulaw(pcm)).toString('base64');
    const wide = resample(pcm, TELEPHONE_RATE, 16_000);
    return Buffer.from(wide.buffer, wide.byteOffset, wide.byteLength).toString('base64');
  }

  it('knows every message of the double, and every message that is sent to the platform', async () => {
    const { agent } = await execute({ onStart: [{ send: says('t1', 'Good evening.', 1_000) }] });
    const sent = agent.received.map(({ atMs: _, ...message }) => message);
    expect(sent.map(({ type }) => type)).toEqual(['end-call']);
    const theirs = [
      ...[messages.started(), messages.speech('user', 'started'), messages.transcript('assistant', 'Hi')],
      ...[messages.model('Hi'), messages.voiceInput('Hi'), messages.spoken('Hi'), messages.interrupted()],
      ...[messages.tools('t', 'book', { people: 4 }), messages.conversation('Hi'), messages.hang()],
      messages.ended('assistant-ended-call'),
    ];
    expect(theirs).toHaveLength(Object.keys(messages).length);
    const call = { id: 't', type: 'function', function: { name: 'book', arguments: '{"people":4}' } };
    const dialects = [
      { type: 'tool-calls', toolCallList: [call], toolWithToolCallList: [{ type: 'function', toolCall: call }] },
      { type: 'speech-update', status: 'stopped', role: 'user' },
      messages.spoken('Hi', 1, progress(0, 0)),
    ];
    const all = [...sent, ...theirs, ...dialects, messages.spoken('Hi you', 1, alignment('Hi you', 300))];
    const wrong = [
      { ...messages.transcript('user', 'Hi'), role: 'bot' },
      { ...messages.hang(), more: 1 },
    ];
    const found = typeErrors(
      path.join(scratch, 'double.ts'),
      [...all, messages.spoken('Hi', 1, progress(1, 1))],
      VAPI_TYPES,
    );
    expect(found).toEqual([]);
    // It would find something.
    expect(typeErrors(path.join(scratch, 'wrong.ts'), wrong, VAPI_TYPES)).toHaveLength(2);
  }, 240_000);

  it('talks to the double: assistants, chats, and a call from the key to its end by controlUrl', async () => {
    const answer = [
      messages.transcript('user', 'Hello.'),
      ...says('t2', 'Yes?', 1_000),
      messages.transcript('assistant', 'Yes?'),
    ];
    const double = await VapiServer.start({
      apiKey: KEY,
      assistants: [{ id: 'a1', name: 'Bella Vista' }],
      chat: [
        [chatCalls('c1', 'opening_hours', { day: 'today' }), chatResult('c1', '{}'), chatSays('From noon to ten.')],
        [chatSays('Goodbye.')],
      ],
      script: {
        onStart: [{ send: [messages.started(), ...audio(1_000), messages.transcript('assistant', 'Good evening.')] }],
        onTurn: [[{ send: answer }]],
      },
    });
    doubles.push(double);
    const printed = await run(
      double.url,
      'a1',
      'pcm_s16le',
      await spoken('Hello, a table for four, please.', 'pcm_s16le'),
    );
    const of = (type: string) => printed.filter((one) => one.type === type);
    expect(of('assistants')).toMatchObject([{ assistants: [{ id: 'a1', name: 'Bella Vista' }] }]);
    const [hours] = of('chats')[0]!['outputs'] as object[][];
    expect(hours).toMatchObject([
      { role: 'assistant', tool_calls: [{ function: { name: 'opening_hours', arguments: '{"day":"today"}' } }] },
      { role: 'tool', content: '{}' },
      { role: 'assistant', content: 'From noon to ten.' },
    ]);
    expect(of('message').map(({ message }) => (message as Printed).type)).toEqual(
      expect.arrayContaining(['assistant.started', 'transcript', 'model-output']),
    );
    expect(of('ended')).toEqual([{ type: 'ended', code: 1000, bytes: 64_000, status: 'ended' }]);
    expect([double.ends, double.openCalls]).toEqual([['control'], 0]);
  }, 90_000);

  it('talks to the reference agent in chats and in a call, in both formats', async () => {
    const vapi = { prepare: () => calls.prepare(), now: () => TODAY, apiKey: KEY };
    const server = await startReferenceAgent({ port: 0, vapi });
    servers.push(server);
    const talks = (['pcm_s16le', 'mulaw'] as const).map(async (format) =>
      run(server.url, 'booking', format, await spoken('When are you open?', format)),
    );
    for (const printed of await Promise.all(talks)) {
      const of = (type: string) => printed.filter((one) => one.type === type);
      expect(JSON.stringify(of('chats'))).toContain('open from');
      const received = of('message').map(({ message }) => message as Printed);
      const words = received.filter(({ type, role }) => type === 'transcript' && role === 'assistant');
      expect(words.map(({ transcript }) => String(transcript))).toEqual([
        expect.stringContaining('Bella Vista') as string,
        expect.stringContaining('open from') as string,
      ]);
      expect(of('ended')).toMatchObject([{ status: 'ended' }]);
    }
  }, 120_000);
});
