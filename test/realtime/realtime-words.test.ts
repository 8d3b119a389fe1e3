import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readWav } from '../../libs/audio/index.js';
import { type ReferenceAgentServer, startReferenceAgent } from '../simulators/agent/index.js';
import { TODAY, VoiceCalls } from '../simulators/agent/testing/voice.js';
import { stubModel } from '../simulators/model/llm-stub.js';
import { wellBehavedJudge } from '../simulators/model/misbehaving-models.js';
import { TestServers } from '../simulators/servers.js';
import { agentBody, personalityBody } from '../factories/bodies.js';
import { HttpClient } from '../support/http.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { vat, type VatResult } from '../support/vat.js';

const FIRST = 'Hello, do you have vegan dishes?';
const SECOND = 'Until when are you open?';
const GOODBYE = 'Thank you, goodbye.';
const HOURS = 'We are open from Tuesday to Sunday, from noon until 10 pm.';
const EVALUATION = {
  key: 'opening-hours',
  name: 'Asks for the opening hours',
  scenarioText: 'You want to know until when the restaurant is open.',
  script: [
    { say: FIRST },
    {
      answers: [{ when: { says: { text: 'vegan' } }, say: SECOND }],
      until: { says: { text: 'noon' } },
      otherwise: 'Hello.',
    },
    { say: GOODBYE },
    { waitSeconds: 5 },
    { end: 'The agent does not hang up' },
  ],
  checks: [{ name: 'States the closing time', type: 'says', pattern: '(?i)until 10 ?pm' }],
  criteria: [{ text: 'The agent says when the restaurant closes.' }],
};

interface Placed {
  readonly runId: string;
  /** The call with its details. */
  readonly call: any;
}

describe('voice calls with words, over OpenAI Realtime', () => {
  const servers = new TestServers();
  const calls = new VoiceCalls();
  let agent: ReferenceAgentServer;
  let app: TestApp;
  let folder: string;
  let apiKey: string;
  let client: HttpClient;
  let foreign: HttpClient;
  /** Both take place at the same time, because they last as long as real ones. */
  let healthy: Promise<Placed>;
  let faulty: Promise<Placed & { readonly printed: VatResult }>;

  beforeAll(async () => {
    const prepared = await calls.prepareFor([FIRST, SECOND, GOODBYE, 'Hello.'], ['wrong-fact']);
    agent = await startReferenceAgent({
      port: 0,
      realtime: { now: () => TODAY, prepare: () => Promise.resolve(prepared) },
    });
    const judge = wellBehavedJudge(({ lines }) => lines.some(({ who, text }) => who === 'agent' && /10 pm/.test(text)));
    const { url: model } = await stubModel(servers, judge);
    app = await createTestApp({
      env: { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8', LLM_BASE_URL: model, LLM_MODEL: 'stub' },
    });
    folder = await mkdtemp(path.join(tmpdir(), 'realtime-words-'));
    ({ apiKey } = await app.createWorkspace());
    client = new HttpClient(app.url, apiKey);
    foreign = new HttpClient(app.url, (await app.createWorkspace()).apiKey);
    healthy = agentWith('booking:healthy').then(async (agentId) => {
      const { id } = (await client.post(`/agents/${agentId}/runs`, {})).body.data as { id: string };
      for (let waits = 0; waits < 3; waits++) {
        if ((await client.get(`/runs/${id}?wait=60`)).body.data.endedAt !== null) break;
      }
      return placed(id);
    });
    faulty = agentWith('booking:wrong-fact').then(async (agentId) => {
      const files = ['--json', path.join(folder, 'run.json'), '--junit', path.join(folder, 'junit.xml')];
      const printed = await vat(['run', '--agent', agentId, ...files], { VAT_URL: app.url, VAT_API_KEY: apiKey });
      const { id } = (await client.get(`/agents/${agentId}/runs`)).body.data[0] as { id: string };
      return { ...(await placed(id)), printed };
    });
    // The test of a call reports its failure.
    for (const run of [healthy, faulty]) run.catch(() => undefined);
  }, 180_000);
  afterAll(async () => {
    await Promise.allSettled([healthy, faulty]);
    await app?.close();
    await agent?.close();
    await calls.close();
    await servers.close();
    if (folder) await rm(folder, { recursive: true });
  });

  /** @param assistantId the agent's fault @returns the agent's id */
  async function agentWith(assistantId: string): Promise<string> {
    const agentId = (await client.post('/agents', agentBody({ assistantId }))).body.data.id as string;
    const personalityId = (await client.post('/personalities', personalityBody())).body.data.id as string;
    const url = `${agent.url.replace(/^http/, 'ws')}/v1/realtime?model={assistantId}`;
    const connection = { protocol: 'openai-realtime', url };
    expect(await client.put(`/agents/${agentId}/connection`, connection)).toMatchObject({ status: 200 });
    const evaluation = { ...EVALUATION, personalityId };
    expect(await client.post(`/agents/${agentId}/evaluations`, evaluation)).toMatchObject({ status: 201 });
    return agentId;
  }

  async function placed(runId: string): Promise<Placed> {
    const [listed] = (await client.get(`/runs/${runId}/calls`)).body.data as { id: string }[];
    return { runId, call: (await client.get(`/calls/${listed!.id}`)).body.data };
  }

  const bytes = async (address: string): Promise<Buffer> => {
    const response = await fetch(app.url + address, { headers: { Authorization: `Bearer ${apiKey}` } });
    expect({ address, status: response.status }).toEqual({ address, status: 200 });
    return Buffer.from(await response.arrayBuffer());
  };

  it('show the words of both sides, and quote them where they decide', async () => {
    const { call } = await healthy;
    expect({ outcome: call.outcome, reason: call.reason }).toEqual({
      outcome: 'passed',
      reason: 'All 2 requirements were met.',
    });
    expect(call).toMatchObject({
      ...{ protocol: 'openai-realtime', medium: 'voice', end: { by: 'agent', code: 'agent_hung_up' } },
      wordsFrom: { source: 'wire', model: null, times: 'estimated' },
    });
    const said = (speaker: string): string =>
      call.timeline.flatMap((entry: any) => (entry.speaker === speaker ? [entry.text] : [])).join('');
    expect(said('caller')).toBe(FIRST + SECOND + GOODBYE);
    expect(said('agent')).toContain(HOURS);
    const [answered] = call.timeline.filter((entry: any) => entry.script?.answers);
    expect(answered).toMatchObject({ text: SECOND, script: { step: 1, answers: [0] } });

    const [{ met, evidence }] = call.checks;
    expect({ met, quote: evidence[0].quote }).toEqual({ met: true, quote: HOURS });
    expect(call.timeline[evidence[0].entry]).toMatchObject({ speaker: 'agent', words: 'known', text: HOURS });
    expect(call.criteria[0]).toMatchObject({ verdict: 'met', evidence: { entry: expect.any(Number) as number } });

    // In order, with times within the call, also those of the caller.
    const times = call.words.map(({ startMs }: { startMs: number }) => startMs);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(call.words.at(-1).endMs).toBeLessThanOrEqual(call.measures.durationMs);
    for (const word of ['Tuesday', 'noon']) expect(call.words).toContainEqual(expect.objectContaining({ text: word }));
    expect(call.words).toContainEqual(expect.objectContaining({ speaker: 'caller', text: 'open?' }));
  }, 120_000);

  it('have a recording, a wire log, JUnit and a report with the words', async () => {
    const { call, runId } = await healthy;
    const { channels, rate } = readWav(await bytes(`/calls/${call.id}/recording`));
    expect(rate).toBe(8_000);
    for (const lane of channels) expect(lane.some((sample) => Math.abs(sample) > 3_000)).toBe(true);
    const wire = (await bytes(`/calls/${call.id}/wire`)).toString().trim().split('\n');
    const sent = wire.map((line) => (JSON.parse(line) as { message: unknown }).message);
    expect(JSON.stringify(sent)).toContain('response.output_audio_transcript.done');
    expect(wire.join('\n')).not.toContain('provider-key-1');
    const report = (await bytes(`/runs/${runId}/report`)).toString();
    for (const text of [HOURS, SECOND, 'class="wave"']) expect(report).toContain(text);
    expect((await bytes(`/runs/${runId}/junit`)).toString()).toContain('failures="0"');
  }, 120_000);

  it('fail in vat for a wrong word, with the words in every output', async () => {
    const { call, printed } = await faulty;
    expect(call).toMatchObject({
      outcome: 'failed',
      checks: [{ name: 'States the closing time', met: false }],
      criteria: [{ verdict: 'not_met' }],
    });
    expect(printed).toMatchObject({ code: 1 });
    expect(printed.stderr).toContain('1/1  failed   Asks for the opening hours: Not met: States the closing time');
    expect(printed.stdout).toContain('Gate not met: 1 call, 0 passed, 1 failed');
    const junit = await readFile(path.join(folder, 'junit.xml'), 'utf8');
    expect(junit).toContain('<failure');
    for (const text of ['States the closing time', 'from noon until 11 pm', SECOND]) expect(junit).toContain(text);
    const json = JSON.parse(await readFile(path.join(folder, 'run.json'), 'utf8')) as { calls: object[] };
    expect(json).toMatchObject({ run: { exitCode: 1 }, calls: [{ id: call.id, outcome: 'failed' }] });
  }, 120_000);

  it('are closed to another workspace', async () => {
    const { call, runId } = await healthy;
    const own = ['', '/recording', '/wire'].map((part) => `/calls/${call.id}${part}`);
    const ofRun = ['', '/calls', '/junit', '/report'].map((part) => `/runs/${runId}${part}`);
    for (const address of [...own, ...ofRun]) {
      const { status, body } = await foreign.get(address);
      expect({ address, status }).toEqual({ address, status: 403 });
      expect(JSON.stringify(body)).not.toContain('noon');
    }
  }, 120_000);
});
