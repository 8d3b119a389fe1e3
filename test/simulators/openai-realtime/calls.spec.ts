import type { EvaluationInput } from '../../../libs/evaluation-definition/index.js';
import type { CallResult } from '../../../libs/simulation/index.js';
import { sampleOfAgent } from '../../../libs/statistics/testing/sample.js';
import { VOICE_EVALUATION_KEYS, type VoiceEvaluationKey, voiceEvaluations } from '../agent/voice/evaluations.js';
import { isExpected, voiceExpectationOf } from '../agent/voice/expected.js';
import { CALLER_VOICES } from '../agent/voice/prepare.js';
import { type RealtimeCallOptions, VoiceCalls } from '../agent/voice/testing/voice-call.js';
import type { VoiceFaultName } from '../agent/voice/voice-faults.js';
import type { Truncation } from './heard-account.js';
import { SHARED_FAULT_NAMES } from './realtime-faults.js';

const calls = new VoiceCalls();
beforeAll(() => calls.prepare(), 180_000);
afterAll(() => calls.close());

/** Keys exist on the telephone only. */
const KEYS = VOICE_EVALUATION_KEYS.filter((key) => key !== 'phone-keys');

const evaluationOf = (key: VoiceEvaluationKey): EvaluationInput =>
  voiceEvaluations('any')[VOICE_EVALUATION_KEYS.indexOf(key)]!;
const call = (key: VoiceEvaluationKey, options: RealtimeCallOptions = {}, voice = 'slt') =>
  calls.callRealtime(evaluationOf(key), voice, options);

async function deviations(fault: VoiceFaultName | undefined, voice: string): Promise<string[]> {
  const isFound = (key: VoiceEvaluationKey) => voiceExpectationOf(fault, key).outcome === 'failed';
  const found: string[] = [];
  for (const key of sampleOfAgent(KEYS, isFound, CALLER_VOICES.indexOf(voice))) {
    const { outcome, end, checks, failure } = await call(key, { fault }, voice);
    const failed = checks.filter(({ met }) => met === false).map(({ name }) => name);
    const isRight = isExpected(voiceExpectationOf(fault, key), { outcome, endCode: end.code, failed });
    if (!isRight) found.push(`${key}: ${outcome} (${end.code}, ${failure?.code}), ${failed.join('; ')}`);
  }
  return found;
}

const codesOf = ({ voice }: CallResult) => voice!.wireFindings.map(({ code }) => code);
const spoken = ({ timeline }: CallResult, speaker: string) =>
  timeline.flatMap((entry) => (entry.type === 'speech' && entry.speaker === speaker ? [entry] : []));

describe('the reference agent as a Realtime server, on the virtual clock', () => {
  it.each(CALLER_VOICES)(
    'passes without a finding, if it is healthy, for a caller with the voice %s',
    async (voice) => {
      expect(await deviations(undefined, voice)).toEqual([]);
    },
  );

  it.each(SHARED_FAULT_NAMES.map((fault, index) => [fault, CALLER_VOICES[index % CALLER_VOICES.length]!] as const))(
    'fails with %s in exactly the expected evaluations, for the expected reason (voice %s)',
    async (fault, voice) => {
      expect(await deviations(fault, voice)).toEqual([]);
    },
  );

  it.each([
    ['false-speech-start', 'failed', 'false_speech_started'],
    ['cancels-answer', 'failed', 'response_cancelled'],
    ['cuts-answer', 'failed', 'response_incomplete'],
    ['no-answer', 'failed', 'no_response'],
    ['no-tokens-left', 'passed', 'rate_limit_reached'],
    ['error-event', 'passed', 'error_event'],
  ] as const)('with %s, the call has %s with the finding %s', async (fault, outcome, code) => {
    const result = await call('phone-booking', { fault });
    expect({ outcome: result.outcome, codes: codesOf(result) }).toEqual({ outcome, codes: [code] });
  });

  it('has the words of both sides, and the beginning of an answer that was interrupted', async () => {
    const result = await call('phone-barge-in');
    const [greeting, , cut] = spoken(result, 'agent');
    expect(greeting).toMatchObject({ text: 'Good day, this is Bella Vista.', words: 'known' });
    expect(cut).toMatchObject({ text: expect.stringMatching(/^We are open from \w+/) as string, interrupted: true });
    const [line] = spoken(result, 'caller');
    expect(line).toMatchObject({ alternative: { source: 'wire', text: line!.text } });
    expect(codesOf(result)).toEqual([]);
  });

  it.each([0, 150, 400])(
    'gets a truncation within 80 ms of its own account of what was heard, with %i ms of delay in each direction',
    async (oneWayMs) => {
      const truncations: Truncation[] = [];
      const result = await call('phone-barge-in', { oneWayMs, onTruncate: (one) => truncations.push(one) });
      expect(truncations).toHaveLength(1);
      const [{ audioEndMs, heardMs }] = truncations as [Truncation];
      expect(audioEndMs).toBeGreaterThan(1_500);
      expect(Math.abs(audioEndMs - heardMs)).toBeLessThanOrEqual(80);
      expect(codesOf(result)).toEqual([]);
      const [bargeIn] = result.voice!.voice.bargeIns;
      expect(Math.abs(bargeIn!.heardUntilMs - audioEndMs)).toBeLessThanOrEqual(1);
      // After the cut nothing of the item is heard: the next sound is the answer to the caller's line.
      const [, line] = spoken(result, 'caller');
      const during = result.voice!.lanes.agent.filter(({ endMs }) => endMs > line!.start && endMs <= line!.end + 600);
      expect(during).toHaveLength(1);
      const [begun] = result.voice!.lanes.agent.filter(({ endMs }) => endMs > spoken(result, 'caller')[0]!.end);
      expect(Math.abs(during[0]!.endMs - (begun!.startMs + audioEndMs))).toBeLessThanOrEqual(80);
    },
  );

  it('is heard on a wide line, and hears the caller there', async () => {
    const truncations: Truncation[] = [];
    const result = await call('phone-barge-in', { isWide: true, onTruncate: (one) => truncations.push(one) });
    expect({ outcome: result.outcome, codes: codesOf(result) }).toEqual({ outcome: 'passed', codes: [] });
    expect(truncations).toHaveLength(1);
    expect(Math.abs(truncations[0]!.audioEndMs - truncations[0]!.heardMs)).toBeLessThanOrEqual(80);
  });

  it('answers a caller who speaks first', async () => {
    const result = await call('phone-booking', { firstSpeaker: 'caller' });
    expect(result.outcome).toBe('passed');
    expect(spoken(result, 'agent')[0]).toMatchObject({ turn: 1 });
  });

  it('goes on when the tools of the session are answered', async () => {
    const answer = { available: true };
    const base = evaluationOf('phone-booking');
    const tools = [{ type: 'function', name: 'check_availability', parameters: { type: 'object' } }];
    const evaluation = {
      ...base,
      script: [...base.script!.slice(0, 4), { end: 'Enough was heard' }],
      toolResults: [{ tool: 'check_availability', result: answer }],
      checks: [{ type: 'calls_tool' as const, tool: 'check_availability', arguments: { people: 4 } }],
    };
    const result = await calls.callRealtime(evaluation, 'slt', { session: { tools } });
    const [toolCall] = result.timeline.filter(({ type }) => type === 'tool_call');
    expect(toolCall).toMatchObject({ name: 'check_availability', result: answer, turn: 4 });
    const said = spoken(result, 'agent').filter(({ turn }) => turn === 4);
    expect(said.map(({ text }) => text).join('')).toBe('All right. Which name is the table for?');
    expect(codesOf(result)).toEqual([]);
  });
});
