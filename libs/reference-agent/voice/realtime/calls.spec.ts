import { VOICE_EVALUATION_KEYS, voiceEvaluations, type VoiceEvaluationKey } from '../evaluations.js';
import { type RealtimeCallOptions, VoiceCalls } from '../testing/voice-call.js';

const calls = new VoiceCalls();
beforeAll(() => calls.prepare(), 180_000);
afterAll(() => calls.close());

const evaluationOf = (key: VoiceEvaluationKey) => voiceEvaluations('any')[VOICE_EVALUATION_KEYS.indexOf(key)]!;
const call = (key: VoiceEvaluationKey, options: RealtimeCallOptions = {}) =>
  calls.callRealtime(evaluationOf(key), 'slt', options);

describe('a call of the reference agent over Realtime', () => {
  it('debug', async () => {
    const result = await call('phone-booking');
    console.log(result.outcome, result.reason, JSON.stringify(result.voice!.wireFindings, null, 1));
    for (const entry of result.timeline) console.log(JSON.stringify(entry).slice(0, 300));
    const b = await call('phone-barge-in', { oneWayMs: 0, onTruncate: (t) => console.log(t) });
    console.log(b.outcome, b.reason, JSON.stringify(b.voice!.wireFindings, null, 1));
    for (const entry of b.timeline) console.log(JSON.stringify(entry).slice(0, 300));
    console.log(JSON.stringify(b.voice!.voice.bargeIns));
  });
});
