import type { ScriptStep } from '../../../libs/evaluation-definition/index.js';
import { CALLER_VOICES } from '../agent/voice/prepare.js';
import { scriptedAgent } from '../agent/voice/testing/scripted-agent.js';
import { VoiceCalls } from '../agent/voice/testing/voice-call.js';
import type { AnswerStamp } from '../agent/voice/voice-agent.js';

const RESPONSE_MS = 700;
/** The frames of both sides, and what mu-law moves. */
const TOLERANCE_MS = 25;
const ANSWERS = [
  'We have sea bass today, and it is fresh.',
  'You are welcome.',
  'It comes with potatoes.',
  'Goodbye, and have a pleasant evening.',
];
/** Without a greeting before them and with hardly a pause; the last sounds are quiet. */
const LINES = [
  'I am caller number seven, on line one. How do I get to you by bus?',
  'I am caller number seven, on line two. And what do you serve with that?',
  'I am caller number seven, on line three. Until when are you open?',
  'I am caller number seven, on line four. Which fish do you have today?',
];

const calls = new VoiceCalls();
afterAll(() => calls.close());

describe('a planted delay', () => {
  it.each(CALLER_VOICES)(
    "is the latency as heard, and by the agent's own times, of every answer to the voice %s",
    async (voice) => {
      const stamps: AnswerStamp[] = [];
      const prepared = await scriptedAgent(calls.synthesiser, { answers: ANSWERS.map((say) => [{ say }]) });
      const script: ScriptStep[] = [...LINES.map((say) => ({ say })), { end: 'All is said' }];
      const what = { key: 'delay', personalityId: 'any', name: 'Delay', scenarioText: 'You ask.' };
      const { voice: heard } = await calls.callRealtime({ ...what, script, checks: [] }, voice, {
        ...{ prepared, firstSpeaker: 'caller', responseMs: RESPONSE_MS, onAnswer: (stamp) => stamps.push(stamp) },
      });
      const own = stamps.map(({ firstByteMs, callerEndMs }) => firstByteMs - callerEndMs);
      const latencies = heard!.voice.latencies.map(({ heardMs }) => heardMs!);
      expect([own.length, latencies.length]).toEqual([LINES.length, LINES.length]);
      const apart = [...own, ...latencies].map((ms) => Math.abs(ms - RESPONSE_MS));
      expect(Math.max(...apart)).toBeLessThanOrEqual(TOLERANCE_MS);
    },
    60_000,
  );
});
