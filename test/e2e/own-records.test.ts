import { isDeepStrictEqual } from 'node:util';
import { OutboundClient } from '../../libs/outbound-http/index.js';
import {
  type CallResult,
  type InProcessMediaAgentFactory,
  PROTOCOLS,
  type RecordsRequest,
} from '../../libs/simulation/index.js';
import { ElevenLabsServer } from '../../libs/simulation/testing/elevenlabs.js';
import { VapiServer } from '../../libs/simulation/testing/vapi.js';
import { sample } from '../../libs/statistics/testing/sample.js';
import { normaliseText } from '../../libs/text/index.js';
import {
  type RealtimeCell,
  RealtimeCells,
  realtimeCells,
  realtimeEvaluationOf,
  realtimeVoiceOf,
  VoiceCalls,
} from '../simulators/agent/testing/voice.js';
import type { AgentLine } from '../simulators/agent/voice/mouth.js';
import { isTelephoneFault, plantedBy } from '../simulators/agent/voice/word-faults.js';
import type { KeptCalls } from '../simulators/records/kept-calls.js';
import { LineRecorder } from '../simulators/records/line-recorder.js';
import { RetellServer } from '../simulators/retell/server.js';
import { personalityBody } from '../factories/bodies.js';
import { HttpClient } from '../support/http.js';
import { fetcherOf } from '../support/production-calls.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const KEY = 'key_of_the_test_1234567890';
/** Tools that Retell runs. */
const TOOLS: ReadonlySet<string> = new Set(['check_availability', 'book_table', 'cancel_booking']);
/** Calls of each platform. */
const CALLS = 300;
/** By how much times of transcripts may be off: what a check of an imported call allows, and the whole seconds of ElevenLabs. */
const OFF_MS = 1_000;

/** Faults of the agent's ear: its record lacks lines of the caller that it did not take for lines. */
const MISHEARD: readonly string[] = ['interrupts-caller', 'cuts-hesitation', 'ignores-barge-in'];

/** Whether the words of the agent are heard during a call, and why the platform says that the agent ended it. */
const PLATFORMS = {
  vapi: { start: () => VapiServer.start(), isHeard: true, hungUp: 'assistant-ended-call', without: MISHEARD },
  'retell-text': { start: () => RetellServer.start(), isHeard: false, hungUp: 'agent_hangup', without: MISHEARD },
  elevenlabs: {
    ...{ start: () => ElevenLabsServer.start(), isHeard: true, hungUp: 'end_call tool was called.' },
    // There, the client hangs up, once it has played the goodbye.
    without: [...MISHEARD, 'hangs-up-mid-sentence'],
  },
} as const;
type Name = keyof typeof PLATFORMS;

/** Calls with scripts, tools, interruptions, noise, faults and ends of all kinds. */
function cellsOf(protocol: Name): readonly RealtimeCell[] {
  const { isHeard, without } = PLATFORMS[protocol];
  const cells = realtimeCells(isHeard ? 2 : 4, protocol === 'elevenlabs' ? 'elevenlabs' : 'vapi').filter((cell) => {
    const { script = [] } = realtimeEvaluationOf(cell);
    const { fault } = cell;
    if (fault !== undefined && (without.includes(fault) || !(isHeard || isTelephoneFault(fault)))) return false;
    // In noise, the ear of the double takes some lines for similar ones on the telephone.
    return isHeard || !(cell.key === 'phone-noise' || script.some((step) => 'answers' in step));
  });
  const isLast = ({ about, seed }: RealtimeCell) => about === 'words' && seed > 1;
  const all = [...cells.filter((one) => !isLast(one)), ...cells.filter(isLast)].slice(0, CALLS);
  if (all.length !== CALLS) throw new Error(`${all.length} calls`);
  return sample(sample(all));
}

describe.each(Object.keys(PLATFORMS) as Name[])('calls of this service in the records of %s', (protocol) => {
  const { start, hungUp } = PLATFORMS[protocol];
  const records = PROTOCOLS.of(protocol).records!;
  const calls = new VoiceCalls();
  const cells = new RealtimeCells(calls);
  const compared: { readonly of: string; readonly own: CallResult; readonly production: any }[] = [];
  let app: TestApp;
  let double: { readonly url: string; readonly kept: KeptCalls; stop(): Promise<void> };

  beforeAll(async () => {
    await calls.prepare();
    double = await start();
    const env = { ROLE: 'api', OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8', AGENT_PROVIDER_1_PROTOCOL: protocol };
    app = await createTestApp({ env: { ...env, AGENT_PROVIDER_1_URL: double.url } });
    const chosen = cellsOf(protocol);
    const own: CallResult[] = [];
    for (const [index, cell] of chosen.entries()) own.push(await made(cell, `call_${index}`));
    // Calls of the last ten minutes are fetched.
    for (const call of double.kept.all.values()) {
      const endedAt = Date.now() - 60_000;
      double.kept.keep({ ...call, startedAt: endedAt - (call.endedAt! - call.startedAt), endedAt });
    }
    const production = await judged(chosen);
    for (const [index, { key, fault = 'healthy' }] of chosen.entries()) {
      const of = `${key}, ${fault}`;
      compared.push({ of, own: own[index]!, production: production.get(`call_${index}`) });
    }
  }, 3_600_000);
  afterAll(async () => {
    await app?.close();
    await double?.stop();
    await calls.close();
  });

  /** Makes a call, which the double keeps for its agent. */
  async function made(cell: RealtimeCell, id: string): Promise<CallResult> {
    const { fault, key } = cell;
    const clock = { now: 0 };
    const recorder = new LineRecorder(() => clock.now);
    const around =
      (agent: InProcessMediaAgentFactory): InProcessMediaAgentFactory =>
      (socket) => {
        const inner = agent(socket);
        return {
          onMessage: (now, data) => inner.onMessage((clock.now = now), data),
          tick: (now) => inner.tick((clock.now = now)),
        };
      };
    const startedAt = Date.now() - 600_000;
    const keep = () => {
      const { lines, tools = [] } = recorder.heard;
      // The agent of ElevenLabs hangs up by a tool.
      const callsTool = protocol === 'elevenlabs' && fault !== 'never-hangs-up';
      const atMs = callsTool ? recorder.goodbyeMs : undefined;
      const end = { id: 'end', name: 'end_call', arguments: {}, result: '' };
      double.kept.keep({
        ...{ id, agent: key, startedAt, endedAt: startedAt + clock.now, lines },
        tools: atMs === undefined ? tools : [...tools, { ...end, startMs: atMs }],
        ...((recorder.hangsUp || atMs !== undefined) && { reason: hungUp }),
      });
    };
    const record = async () => {
      keep();
      return (await records.get(id, request()))!;
    };
    const prepared = cell.about === 'words' && { prepared: await cells.preparedFor(cell.key) };
    const options = { around, recorded: (line: AgentLine) => recorder.around(line), ...prepared };
    const [evaluation, voice] = [realtimeEvaluationOf(cell), realtimeVoiceOf(cell)];
    const planted = fault && { fault: fault as never };
    const telephone = { ...plantedBy(fault as never), hostedTools: () => TOOLS, record };
    const call = {
      vapi: () => calls.callVapi(evaluation, voice, { ...options, ...planted }),
      elevenlabs: () => calls.callElevenLabs(evaluation, voice, { ...options, ...planted }),
      'retell-text': () => calls.callSip(evaluation, voice, { ...options, ...telephone }),
    }[protocol];
    const result = await call();
    keep();
    return result;
  }

  const request = (): RecordsRequest => ({
    client: new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] }),
    endpoint: { protocol, url: double.url, headers: {}, firstSpeaker: null, options: {}, apiKey: KEY },
    signal: new AbortController().signal,
    turn: () => Promise.resolve(),
  });

  /** Fetches and judges the calls as those of real callers, those of each evaluation as of an agent. @returns them by their ids */
  async function judged(chosen: readonly RealtimeCell[]): Promise<ReadonlyMap<string, any>> {
    const { workspaceId, apiKey } = await app.createWorkspace();
    const client = new HttpClient(app.url, apiKey);
    const personalityId = (await client.post('/personalities', personalityBody())).body.data.id;
    const agentIds: string[] = [];
    for (const cell of new Map(chosen.map((one) => [one.key, one])).values()) {
      const agent = { workspaceId, provider: 'AGENT_PROVIDER_1', assistantId: cell.key, apiKey: KEY, name: cell.key };
      const agentId: string = (await client.post('/agents', { ...agent, callMonitoring: true })).body.data.id;
      const evaluation = { ...realtimeEvaluationOf(cell), personalityId, scope: 'production' };
      expect(await client.post(`/agents/${agentId}/evaluations`, evaluation)).toMatchObject({ status: 201 });
      expect((await client.put(`/agents/${agentId}/monitoring`, { redact: [], recordings: 'none' })).status).toBe(200);
      agentIds.push(agentId);
    }
    const fetcher = fetcherOf(app);
    // One agent of a credential at a time.
    for (const _ of agentIds) {
      await fetcher.begin();
      await fetcher.settled();
      await sql(app.databaseUrl, 'UPDATE agent_monitoring SET due_at = now() WHERE last_fetched_at IS NULL');
    }
    const found = new Map<string, any>();
    for (const agentId of agentIds) {
      const listed = (await client.get(`/agents/${agentId}/calls?origin=production&limit=100`)).body.data;
      for (const { id, externalId } of listed) found.set(externalId, (await client.get(`/calls/${id}`)).body.data);
    }
    return found;
  }

  /** What differs, with its call. */
  const different = (
    partsOf: (
      call: (typeof compared)[number],
    ) => readonly (readonly [what: string, own: unknown, production: unknown, ...rest: unknown[]])[],
  ) =>
    compared.flatMap((call) =>
      partsOf(call)
        .filter(([, own, production]) => !isDeepStrictEqual(own, production))
        .map((parts) => [call.of, ...parts]),
    );

  it('have the same words of both sides, in the same order', () => {
    const said = different(({ own, production }) => {
      const kept = linesOf(production.timeline);
      const lines = linesOf(own.timeline).map(({ speaker, text }, at) => {
        const other = kept[at]?.text ?? '';
        // Unknown, or cut off: how much was heard of a line then, each side estimates.
        const isRest = text === '' || (!/[.?!]$/.test(text) && other !== '' && text.startsWith(other));
        return `${speaker}: ${isRest ? other : text}`;
      });
      return [['words', lines, kept.map(({ speaker, text }) => `${speaker}: ${text}`)]];
    });
    expect(said).toEqual([]);
  });

  it('have the same tool calls with the same arguments', () => {
    const toolsOf = (timeline: readonly any[]) =>
      timeline.filter(({ type }) => type === 'tool_call').map(({ name, arguments: args }) => [name, args ?? {}]);
    const called = different(({ own, production }) => [['tools', toolsOf(own.timeline), toolsOf(production.timeline)]]);
    expect(called).toEqual([]);
  });

  it('have the same verdict of each check that both decide', () => {
    const decided = ({ own, production }: (typeof compared)[number]) =>
      own.checks
        .map(({ name, type, met }, at) => [name, met, production.checks[at].met, type] as const)
        // That the tester gave up, its platform takes for the caller's end.
        .filter(
          ([, one, other, type]) => one !== null && other !== null && (type !== 'ends_by' || own.end.by !== 'tester'),
        );
    expect(different(decided)).toEqual([]);
    expect(compared.flatMap(decided).length).toBeGreaterThan(compared.length);
    expect(compared.flatMap(decided).some(([, met]) => !met)).toBe(true);
  });

  it('have times of lines that are off by at most a second in 99 %', () => {
    const offBy = compared.flatMap(({ own, production }) => {
      const kept = linesOf(production.timeline);
      return linesOf(own.timeline).map(({ start }, at) => Math.abs(start - (kept[at]?.start ?? Infinity)));
    });
    expect(offBy.length).toBeGreaterThan(compared.length);
    expect(offBy.filter((ms) => ms <= OFF_MS).length).toBeGreaterThanOrEqual(0.99 * offBy.length);
  });
});

/** What both sides said, in order: pauses divide no line. */
function linesOf(timeline: readonly any[]) {
  const lines: { speaker: string; text: string; start: number }[] = [];
  for (const { type, speaker, text, start } of timeline.toSorted((a, b) => a.start - b.start)) {
    if (type !== 'speech') continue;
    const last = lines.at(-1);
    if (last && last.speaker === speaker) last.text = normaliseText(`${last.text} ${text}`);
    else lines.push({ speaker, text: normaliseText(text), start });
  }
  return lines;
}
