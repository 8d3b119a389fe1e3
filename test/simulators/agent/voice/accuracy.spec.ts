import { sampleOfAgent, sentinels } from '../../../../libs/statistics/testing/sample.js';
import { VOICE_EVALUATION_KEYS, type VoiceEvaluationKey, voiceEvaluations } from './evaluations.js';
import { isExpected, voiceExpectationOf } from './expected.js';
import { CALLER_VOICES } from './prepare.js';
import { isSentinel } from '../testing/sentinels.js';
import { VoiceCalls } from './testing/voice-call.js';
import type { AnswerStamp } from './voice-agent.js';
import { VOICE_FAULT_NAMES, type VoiceFaultName } from './voice-faults.js';

const calls = new VoiceCalls();
beforeAll(() => calls.prepare(), 180_000);
afterAll(() => calls.close());

/** What is not as expected. */
async function deviations(fault: VoiceFaultName | undefined, voice: string): Promise<string[]> {
  const isFound = (key: VoiceEvaluationKey) => voiceExpectationOf(fault, key).outcome === 'failed';
  const found: string[] = [];
  for (const key of sampleOfAgent(VOICE_EVALUATION_KEYS, isFound, CALLER_VOICES.indexOf(voice))) {
    const evaluation = voiceEvaluations('any')[VOICE_EVALUATION_KEYS.indexOf(key)]!;
    const { outcome, end, checks, failure } = await calls.call(evaluation, voice, { fault });
    const failed = checks.filter(({ met }) => met === false).map(({ name }) => name);
    const isRight = isExpected(voiceExpectationOf(fault, key), { outcome, endCode: end.code, failed });
    if (!isRight) found.push(`${key}: ${outcome} (${end.code}, ${failure?.code}), ${failed.join('; ')}`);
  }
  return found;
}

describe('accuracy of the evaluations for the telephone', () => {
  it.each(CALLER_VOICES)('lets the healthy agent pass for a caller with the voice %s', async (voice) => {
    expect(await deviations(undefined, voice)).toEqual([]);
  });

  it.each(['phone-booking', 'phone-listening', 'phone-noise'] as const)(
    'lets the healthy agent pass %s with other voices at 20 dB on a weak line of the telephone band',
    async (key) => {
      const conditions = { noise: { type: 'babble', snrDb: 20 }, band: 'telephone', gainDb: -3, seed: 41 } as const;
      const evaluation = { ...voiceEvaluations('any')[VOICE_EVALUATION_KEYS.indexOf(key)]!, conditions };
      const { outcome, reason } = await calls.call(evaluation, 'awb');
      expect({ outcome, reason }).toMatchObject({ outcome: 'passed' });
    },
  );

  it('lets the healthy agent pass when the first word of a barge-in is not recognised, because a packet of it is lost', async () => {
    const evaluation = voiceEvaluations('any')[VOICE_EVALUATION_KEYS.indexOf('phone-barge-in')]!;
    const conditions = { packetLossPercent: 2, seed: 504 };
    const { outcome, reason } = await calls.call({ ...evaluation, conditions }, 'slt');
    expect({ outcome, reason }).toMatchObject({ outcome: 'passed' });
  });

  const planted = VOICE_FAULT_NAMES.map(
    (fault, index) => [fault, CALLER_VOICES[index % CALLER_VOICES.length]!] as const,
  );
  it.each(sentinels(planted, ([fault]) => isSentinel(fault)))(
    'finds %s in exactly the expected evaluations, for the expected reason (voice %s)',
    async (fault, voice) => {
      expect(await deviations(fault, voice)).toEqual([]);
    },
  );

  it('expects every fault to fail at least one evaluation', () => {
    const found = (fault: VoiceFaultName) =>
      VOICE_EVALUATION_KEYS.some((key) => voiceExpectationOf(fault, key).outcome === 'failed');
    expect(VOICE_FAULT_NAMES.filter((fault) => !found(fault))).toEqual([]);
  });

  it.each([200, 800, 2_500])("reports a planted delay of %i ms as the agent's own times do", async (responseMs) => {
    const stamps: AnswerStamp[] = [];
    const [booking] = voiceEvaluations('any');
    const result = await calls.call(booking!, 'slt', { responseMs, onAnswer: (stamp) => stamps.push(stamp) });
    const own = stamps.map(({ firstByteMs, callerEndMs }) => firstByteMs - callerEndMs);
    const firstBytes = result.voice!.voice.latencies.map(({ firstByteMs }) => firstByteMs!);
    expect(firstBytes).toHaveLength(8);
    firstBytes.forEach((ms, index) => expect(Math.abs(ms - own[index]!)).toBeLessThanOrEqual(25));
    expect(Math.min(...own)).toBeGreaterThanOrEqual(responseMs);
  });
});
