import { VOICE_EVALUATION_KEYS, voiceEvaluations } from '../agent/voice/evaluations.js';
import { isExpected } from '../agent/voice/expected.js';
import { VoiceCalls } from '../agent/voice/testing/voice-call.js';
import type { AnswerStamp } from '../agent/voice/voice-agent.js';
import type { VoiceFaultName } from '../agent/voice/voice-faults.js';
import { SIP_FAULTS, sipExpectationOf } from './expected.js';
import { AHEAD_MS, type SipLine } from './session.js';

const calls = new VoiceCalls();
beforeAll(() => calls.prepare(), 180_000);
afterAll(() => calls.close());

const LOSSY: SipLine = { jitterMs: 80, lossPercent: 2, seed: 5 };

/** What is not as expected. */
async function deviations(
  fault: VoiceFaultName | undefined,
  line: SipLine,
  keys = VOICE_EVALUATION_KEYS,
): Promise<string[]> {
  const found: string[] = [];
  for (const key of keys) {
    const evaluation = voiceEvaluations('any')[VOICE_EVALUATION_KEYS.indexOf(key)]!;
    const { outcome, end, checks, failure, reason } = await calls.callSip(evaluation, 'slt', {
      ...(fault && { fault }),
      line,
    });
    const failed = checks.filter(({ met }) => met === false).map(({ name }) => name);
    const isRight = isExpected(sipExpectationOf(fault, key), { outcome, endCode: end.code, failed });
    if (!isRight) found.push(`${key}: ${outcome} (${end.code}, ${failure?.code}, ${reason}), ${failed.join('; ')}`);
  }
  return found;
}

describe('the evaluations for the telephone over SIP', () => {
  const lines: [string, SipLine][] = [
    ['a clean line', {}],
    ['80 ms of jitter and 2 % loss', LOSSY],
    ['a sender whose timestamp stands still in silence', { sender: 'still', jitterMs: 20 }],
    ['a sender that is 240 ms ahead', { sender: 'ahead', jitterMs: 20 }],
  ];

  it.each(lines)(
    'let the healthy agent pass over %s',
    async (_name, line) => {
      expect(await deviations(undefined, line)).toEqual([]);
    },
    300_000,
  );

  it.each(SIP_FAULTS)(
    'find %s over a line with jitter and loss as over Media Streams',
    async (fault) => {
      expect(await deviations(fault, LOSSY)).toEqual([]);
    },
    300_000,
  );

  it('leave undecided what no sound shows: whether the agent stopped for a cough, and whose gaps are in its speech', async () => {
    const found = await Promise.all(
      (['yields-to-any-sound', 'choppy-sound'] as const).map(async (fault) => {
        const key = fault === 'choppy-sound' ? 'phone-booking' : 'phone-listening';
        const evaluation = voiceEvaluations('any')[VOICE_EVALUATION_KEYS.indexOf(key)]!;
        const { outcome, failure, checks } = await calls.callSip(evaluation, 'slt', { fault });
        return { outcome, code: failure?.code, unmet: checks.filter(({ met }) => met === false).length };
      }),
    );
    expect(found).toEqual(Array(2).fill({ outcome: 'error', code: 'not_exercised', unmet: 0 }));
  }, 300_000);

  it('blame nobody for what the line lost while a time was measured', async () => {
    const evaluation = voiceEvaluations('any')[VOICE_EVALUATION_KEYS.indexOf('phone-booking')]!;
    // From the first answer on, half a second of it.
    const { outcome, failure } = await calls.callSip(evaluation, 'slt', { line: { lostMs: [7_400, 8_000] } });
    expect({ outcome, code: failure?.code }).toEqual({ outcome: 'error', code: 'line_lost' });
  }, 300_000);

  it.each(lines)(
    'measure a planted delay within 25 ms of the own times of the agent over %s',
    async (_name, line) => {
      const stamps: AnswerStamp[] = [];
      const [booking] = voiceEvaluations('any');
      const result = await calls.callSip(booking!, 'slt', {
        responseMs: 800,
        onAnswer: (stamp) => stamps.push(stamp),
        line,
      });
      const own = stamps.map(({ firstByteMs, leadMs, callerEndMs }) => firstByteMs + leadMs - callerEndMs);
      const heard = result.voice!.voice.latencies.map(({ heardMs }) => heardMs!);
      expect(heard).toHaveLength(8);
      const errors = heard.map((ms, index) => ms - own[index]! - (line.sender === 'ahead' ? AHEAD_MS : 0));
      expect(errors.filter((ms) => Math.abs(ms) > 25)).toEqual([]);
      expect(result.outcome).toBe('passed');
    },
    300_000,
  );
});
