import { randomUUID } from 'node:crypto';
import { encodeMulaw } from '../../libs/audio/index.js';
import type { EvaluationInput } from '../../libs/evaluation-definition/index.js';
import { mediaThreads, requestThreads } from '../../libs/simulation/index.js';
import { callHere, speech } from '../../libs/simulation/testing/sip.js';
import { VapiServer } from '../../libs/simulation/testing/vapi.js';
import { TODAY, VoiceCalls } from '../simulators/agent/testing/voice.js';
import { RetellServer } from '../simulators/retell/server.js';
import { type RetellVoice, RetellTelephone, type TelephoneFaults } from '../simulators/retell/telephone.js';
import { ASKS, Booking, measured } from '../support/booking-calls.js';

const KEY = 'key_of_the_test_1234567890';
const TONE = encodeMulaw(speech(800));
const voice: RetellVoice = () =>
  Promise.resolve({
    today: TODAY,
    voice: { say: () => TONE },
    recogniser: { recognise: () => ({ type: 'line', text: 'A table', isComplete: true }) },
    dialogue: () => new Booking(),
  });

/** A platform with the API of its name, whose agents are called at its SIP server. */
async function serve(name: 'vapi' | 'retell', faults: TelephoneFaults) {
  const api =
    name === 'vapi' ? await VapiServer.start({ apiKey: KEY }) : await RetellServer.start({ apiKey: KEY, voice });
  const telephone = 'telephone' in api ? api.telephone : new RetellTelephone(api.kept, voice);
  if (name === 'vapi') await telephone.listen();
  telephone.numbers.set('bella-vista', 'agent_01');
  Object.assign(telephone.faults, {
    reason: { vapi: 'assistant-ended-call', retell: 'agent_hangup' }[name],
    ...faults,
  });
  return {
    records: `${name}:${api.url}`,
    url: telephone.url.replace('sip:', 'sip:bella-vista@'),
    stop: async () => {
      telephone.close();
      await api.stop();
    },
  };
}

describe.each(['vapi', 'retell'] as const)('A call over SIP to an agent whose records %s has', (name) => {
  const calls = new VoiceCalls();
  let platform: Awaited<ReturnType<typeof serve>>;
  beforeAll(() => calls.prepare(), 180_000);
  afterEach(() => platform.stop());
  afterAll(async () => {
    await calls.close();
    await mediaThreads.close();
    await requestThreads.close();
  });

  async function call(
    evaluation: EvaluationInput,
    { faults = {}, ...more }: { faults?: TelephoneFaults; assistantId?: string } = {},
  ) {
    platform = await serve(name, faults);
    const { records, url } = platform;
    const agent = { protocol: 'sip', apiKey: KEY, assistantId: 'agent_01', firstSpeaker: 'agent' } as const;
    const recording = { audio: () => undefined, wire: () => undefined };
    return measured(() =>
      calls.callOver(url, evaluation, 'slt', recording, { ...agent, options: { records }, ...more }),
    );
  }

  it('passes by the tool call of the record, and has its words', async () => {
    const { outcome, reason, timeline } = await call(ASKS);
    expect({ outcome, reason }).toEqual({ outcome: 'passed', reason });
    expect(timeline.filter(({ type }) => type === 'tool_call')).toMatchObject([
      { name: 'book_table', arguments: { people: 4 }, result: '{"status":"ok"}' },
    ]);
    expect(JSON.stringify(timeline)).toContain('Table seven is yours.');
  }, 120_000);

  it('has the record although its capacity is lost while it hangs up', async () => {
    platform = await serve(name, {});
    const placed = (handle: object) => ('ended' in handle ? Promise.reject(new Error('lost')) : Promise.resolve());
    const ledger = { placed: placed as never, identified: () => Promise.resolve(), paid: () => Promise.resolve() };
    const { facts } = callHere(platform.url, {
      endpoint: { apiKey: KEY, options: { records: platform.records } },
      call: { assistantId: 'agent_01', callId: randomUUID(), ledger },
    });
    expect((await facts).unknownTools).toBeUndefined();
  }, 60_000);

  it('fails if the record is whole and shows no such tool call', async () => {
    const checks: EvaluationInput['checks'] = [{ type: 'calls_tool', tool: 'cancel_booking' }];
    const { outcome, reason } = await call({ ...ASKS, checks });
    expect({ outcome, reason }).toEqual({ outcome: 'failed', reason });
  }, 120_000);

  it('is not decided about tools with the id of another assistant, and says what to check', async () => {
    const { outcome, checks } = await call(ASKS, { assistantId: 'agent_02' });
    expect(outcome).toBe('error');
    expect(JSON.stringify(checks)).toContain(
      'not visible by telephone, and no record of it was found within 30 s: check that assistantId',
    );
  }, 200_000);

  it('that the platform breaks off is an error, and no missing tool call of the agent', async () => {
    const { outcome, end } = await call(ASKS, { faults: { endsAfterMs: 1_500, reason: 'error-of-the-platform' } });
    expect(outcome).toBe('error');
    expect(end).toMatchObject({
      code: 'failure',
      reason: expect.stringContaining('error-of-the-platform') as unknown,
    });
  }, 120_000);
});
