import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { EvaluationInput } from '../../libs/evaluation-definition/index.js';
import { OutboundClient } from '../../libs/outbound-http/index.js';
import { type ReferenceAgentServer, startReferenceAgent } from '../simulators/agent/index.js';
import { TODAY, type Truncation, VoiceCalls } from '../simulators/agent/testing/voice.js';
import { type CallResult, mediaThreads, testConnection } from '../../libs/simulation/index.js';
import { until } from '../support/until.js';

const FOLDER = path.resolve(__dirname, '../realtime-agent');
const KEY = 'sk-of-the-test-1234567890';
const QUESTIONS = 'When are you open, where are you, and can I park there?';
const BARGE_IN = "Thank you, that's enough. Do you have vegan dishes?";
/** A frame of the caller, and one delta of the agent. */
const AGREEMENT_MS = 80;
const EVALUATION: EvaluationInput = {
  key: 'barge-in',
  personalityId: 'any',
  name: 'Interrupts a long answer',
  scenarioText: 'You ask three questions at once and interrupt the answer.',
  script: [{ say: QUESTIONS }, { say: BARGE_IN, bargeIn: { afterMs: 1_500 } }, { waitSeconds: 1 }, { end: 'Enough' }],
  checks: [{ type: 'yields_within_ms', ms: 1_500 }, { type: 'clean_protocol' }],
};

/** For calls of which only the connection matters. */
const LISTENS: EvaluationInput = {
  ...EVALUATION,
  script: [{ waitSeconds: 1 }, { end: 'Enough' }],
  checks: [{ type: 'clean_protocol' }],
};

const isInstalled = existsSync(path.join(FOLDER, 'node_modules/@openai/agents'));
const mustRun = process.env['REQUIRE_ALL_TESTS'] === 'true';

describe('OpenAI Realtime over sockets', () => {
  const calls = new VoiceCalls();
  const servers: ReferenceAgentServer[] = [];
  beforeAll(() => calls.prepare(), 180_000);
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });
  afterAll(async () => {
    await mediaThreads.close();
    await calls.close();
  });

  async function serve(options: { oneWayMs?: number; apiKey?: string } = {}) {
    const truncations: Truncation[] = [];
    const onTruncate = (one: Truncation) => truncations.push(one);
    const realtime = { prepare: () => calls.prepare(), now: () => TODAY, onTruncate, ...options };
    const server = await startReferenceAgent({ port: 0, realtime });
    servers.push(server);
    return { address: `${server.url.replace(/^http/, 'ws')}/v1/realtime?model={assistantId}`, truncations };
  }

  const call = (url: string, wire: string[] = [], more: object = {}, evaluation = EVALUATION): Promise<CallResult> =>
    calls.callOver(
      url,
      evaluation,
      'slt',
      { audio: () => undefined, wire: (lines) => wire.push(...lines) },
      { protocol: 'openai-realtime', apiKey: KEY, ...more },
    );

  it('truncates within 80 ms of the account of the agent, with 0, 150 and 400 ms of delay in each direction', async () => {
    const found = await Promise.all(
      [0, 150, 400].map(async (oneWayMs) => {
        const { address, truncations } = await serve({ oneWayMs, apiKey: KEY });
        const wire: string[] = [];
        return { ...(await call(address, wire)), truncations, wire };
      }),
    );
    for (const { outcome, reason, truncations, voice, wire } of found) {
      expect({ outcome, reason }).toMatchObject({ outcome: 'passed' });
      expect(truncations).toHaveLength(1);
      const [{ audioEndMs, heardMs }] = truncations as [Truncation];
      expect(audioEndMs).toBeGreaterThan(1_500);
      expect(Math.abs(audioEndMs - heardMs)).toBeLessThanOrEqual(AGREEMENT_MS);
      expect(Math.abs(voice!.voice.bargeIns[0]!.heardUntilMs - audioEndMs)).toBeLessThanOrEqual(1);
      expect(JSON.stringify(voice) + wire.join('\n')).not.toContain(KEY);
    }
  }, 90_000);

  it('reaches a server with the address and the header of Azure', async () => {
    const { address } = await serve({ apiKey: KEY });
    const azure = address.replace('/v1/realtime?model={assistantId}', '/openai/v1/realtime?model=booking');
    const more = { apiKey: 'sk-of-openai-0987654321', headers: { 'api-key': KEY } };
    const { outcome, reason } = await call(azure, [], more, LISTENS);
    expect({ outcome, reason }).toMatchObject({ outcome: 'passed' });
  }, 60_000);

  it('is tested until the agent is heard, and says what to do about a wrong key', async () => {
    const { address } = await serve({ apiKey: KEY });
    const test = (apiKey: string) =>
      testConnection(
        { protocol: 'openai-realtime', url: address, headers: {}, firstSpeaker: null, options: {}, apiKey },
        {
          client: new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] }),
          assistantId: 'booking',
          phoneNumber: '',
          workspaceId: 'w-1',
          callId: 'c-1',
        },
        15_000,
      );
    const { ok, steps } = await test(KEY);
    expect({ ok, steps: steps.map(({ step, status }) => `${step} ${status}`) }).toEqual({
      ok: true,
      steps: [
        ...['resolved passed', 'connected passed', 'secured skipped', 'websocket passed'],
        ...['ready passed', 'answered passed'],
      ],
    });
    const refused = await test('sk-another-key-0987654321');
    expect(refused.ok).toBe(false);
    expect(refused.steps.find(({ status }) => status === 'failed')).toMatchObject({
      step: 'websocket',
      cure: expect.stringContaining('apiKey') as string,
    });
    expect(JSON.stringify(refused)).not.toContain('sk-another-key');
  }, 60_000);

  (isInstalled || mustRun ? it : it.skip)(
    "takes OpenAI's own client, which truncates within 80 ms of the account of the agent, too",
    async () => {
      const { address, truncations } = await serve();
      const printed: Record<string, unknown>[] = [];
      const lines = await Promise.all(
        [QUESTIONS, BARGE_IN].map(async (text) => {
          const { pcm } = await calls.synthesiser.synthesise({ text, voice: 'slt' });
          return Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength).toString('base64');
        }),
      );
      const client: ChildProcess = spawn(
        process.execPath,
        [path.join(FOLDER, 'client.mjs'), address.replace('{assistantId}', 'booking')],
        { stdio: ['pipe', 'pipe', 'inherit'] },
      );
      try {
        createInterface({ input: client.stdout! }).on('line', (line) => {
          if (line.startsWith('{')) printed.push(JSON.parse(line) as Record<string, unknown>);
        });
        client.stdin!.end(JSON.stringify(lines));
        await until('the client has truncated', () => truncations.length > 0, 40_000);
      } finally {
        const exited = once(client, 'exit');
        client.kill();
        await exited;
      }
      expect(printed.filter(({ type }) => type === 'error')).toEqual([]);
      expect(printed).toContainEqual({ type: 'words', text: 'Good day, this is Bella Vista. How can I help you?' });
      const [{ audioEndMs, heardMs }] = truncations as [Truncation];
      expect(audioEndMs).toBeGreaterThan(1_000);
      expect(Math.abs(audioEndMs - heardMs)).toBeLessThanOrEqual(AGREEMENT_MS);
    },
    90_000,
  );
});
