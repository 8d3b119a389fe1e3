import type { EvaluationInput } from '../../libs/evaluation-definition/index.js';
import { mediaThreads, requestThreads } from '../../libs/simulation/index.js';
import { encodeMulaw } from '../../libs/audio/index.js';
import { speech } from '../../libs/simulation/testing/sip.js';
import { type ReferenceAgentServer, startReferenceAgent } from '../simulators/agent/index.js';
import { TODAY, VoiceCalls } from '../simulators/agent/testing/voice.js';
import { RetellServer, type RetellServerOptions } from '../simulators/retell/server.js';
import { ASKS, Booking, measured } from '../support/booking-calls.js';
import { BARGE_IN } from '../support/platform-calls.js';

const KEY = 'key_of_the_test_1234567890';

afterAll(() => Promise.all([mediaThreads.close(), requestThreads.close()]));

describe('A call to an agent of Retell', () => {
  const calls = new VoiceCalls();
  let platform: RetellServer;
  beforeAll(() => calls.prepare(), 180_000);
  afterEach(() => platform.stop());
  afterAll(() => calls.close());

  async function call(evaluation: EvaluationInput, options: RetellServerOptions = {}, faults: object = {}) {
    const tone = encodeMulaw(speech(800));
    platform = await RetellServer.start({
      apiKey: KEY,
      agentId: 'agent_01',
      voice: () =>
        Promise.resolve({
          today: TODAY,
          voice: { say: () => tone },
          recogniser: { recognise: () => ({ type: 'line', text: 'A table', isComplete: true }) },
          dialogue: () => new Booking(),
        }),
      ...options,
    });
    Object.assign(platform.telephone.faults, faults);
    const wire: string[] = [];
    const result = await measured(() =>
      calls.callOver(
        platform.url,
        evaluation,
        'slt',
        { audio: () => undefined, wire: (lines) => wire.push(...lines) },
        {
          ...{ protocol: 'retell', apiKey: KEY, assistantId: 'agent_01', firstSpeaker: 'agent' },
          options: { sipServer: platform.telephone.url, variables: { customer_name: 'Anna Rossi', people: 4 } },
        },
      ),
    );
    return { ...result, wire: wire.join('\n') };
  }

  it('is registered with the key, dialled by its id, and has the tool calls, words and end of the record', async () => {
    const { outcome, reason, timeline, voice, wire } = await call(ASKS);
    expect({ outcome, reason }).toEqual({ outcome: 'passed', reason });
    expect(platform.telephone.registered).toEqual([
      {
        agent_id: 'agent_01',
        direction: 'inbound',
        metadata: { 'vat-call': expect.any(String) as unknown },
        retell_llm_dynamic_variables: { customer_name: 'Anna Rossi', people: '4' },
      },
    ]);
    const [invite] = platform.telephone.invited;
    expect(invite!.user).toMatch(/^call_\w+$/);
    expect(invite!.header('X-Vat-Call')).toBe(
      (platform.telephone.registered[0]!.metadata as Record<string, string>)['vat-call'],
    );
    expect(timeline.filter(({ type }) => type === 'tool_call')).toMatchObject([
      { name: 'book_table', arguments: { people: 4 }, result: '{"status":"ok"}' },
    ]);
    const said = timeline.flatMap((entry) => (entry.type === 'speech' && entry.speaker === 'agent' ? entry.text : []));
    expect(said.join(' ')).toContain('Table seven is yours.');
    expect(voice!.wordsFrom).toMatchObject({ source: 'wire' });
    expect(wire).not.toContain(KEY);
  }, 120_000);

  it('fails if the record is whole and shows no such tool call', async () => {
    const [calls_tool] = ASKS.checks!;
    const { outcome, reason } = await call({ ...ASKS, checks: [{ ...calls_tool!, tool: 'cancel' } as never] });
    expect({ outcome, reason }).toMatchObject({ outcome: 'failed' });
  }, 120_000);

  // docs.retellai.com/api-references/get-call: the transcript is "available after call ends".
  it('waits for a record that comes late', async () => {
    const { outcome, reason } = await call(ASKS, {}, { recordedAfterMs: 3_000 });
    expect({ outcome, reason }).toEqual({ outcome: 'passed', reason });
  }, 120_000);

  it('is not decided about tools if the record does not come in time', async () => {
    const { outcome, reason, checks } = await call(ASKS, {}, { recordedAfterMs: 600_000 });
    expect({ outcome, reason }).toEqual({ outcome: 'error', reason });
    expect(JSON.stringify(checks)).toContain(
      'not visible by telephone, and the record of the platform was not complete within 30 s',
    );
  }, 200_000);

  it('that the platform breaks off is an error, and no missing tool call of the agent', async () => {
    const { outcome, end } = await call(ASKS, {}, { endsAfterMs: 1_500, reason: 'error_retell' });
    expect(outcome).toBe('error');
    expect(end).toMatchObject({ code: 'failure', reason: expect.stringContaining('error_retell') as unknown });
  }, 120_000);
});

describe('The reference agent as one of Retell', () => {
  const calls = new VoiceCalls();
  let server: ReferenceAgentServer;
  beforeAll(async () => {
    await calls.prepare();
    const retell = { apiKey: KEY, prepare: () => calls.prepare(), now: () => TODAY };
    server = await startReferenceAgent({ port: 0, now: () => TODAY, retell });
  }, 180_000);
  afterAll(async () => {
    await server.close();
    await calls.close();
  });

  it.each([
    ['healthy', 'passed'],
    ['ignores-barge-in', 'failed'],
  ])(
    '%s: %s, by times and by the words of the record',
    async (fault, expected) => {
      const { outcome, reason } = await measured(() =>
        calls.callOver(
          server.url,
          BARGE_IN,
          'slt',
          { audio: () => undefined, wire: () => undefined },
          {
            ...{ protocol: 'retell', apiKey: KEY, assistantId: `booking:${fault}` },
            options: { sipServer: server.sipServer },
          },
        ),
      );
      expect({ outcome, reason }).toEqual({ outcome: expected, reason });
    },
    200_000,
  );
});
