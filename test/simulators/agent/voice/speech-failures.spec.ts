import { readFileSync } from 'node:fs';
import path from 'node:path';
import { sample } from '../../../../libs/statistics/testing/sample.js';
import { SPEECH_FAILURES, SpeechFailures, type SpeechFailureName, speaks } from './testing/speech-failures.js';
import { decisionOf, TelephoneFailures } from './testing/telephone-failures.js';
import { VoiceCalls } from './testing/voice-call.js';

const GUIDE = readFileSync(path.resolve(__dirname, '../../../../docs/guides/checks.md'), 'utf8');
/** A check on words, one on times, one on the end. `npm run accuracy:words -- speech` has them all. */
const CHECKS = ['Names the restaurant', 'Answers within two seconds', 'Hangs up within two seconds of the goodbye'];
const calls = new VoiceCalls();
const telephone = new TelephoneFailures(calls, GUIDE);
const failures = new SpeechFailures(calls, telephone);
afterAll(async () => {
  await telephone.close();
  await calls.close();
});

describe('a speech server that fails', () => {
  const names = Object.keys(SPEECH_FAILURES) as SpeechFailureName[];

  it.each(names.filter(speaks))(
    'lets the caller speak, and the agent be judged: %s',
    async (name) => {
      const { result: healthy } = await failures.call(name);
      expect({ outcome: healthy.outcome, reason: healthy.reason }).toMatchObject({ outcome: 'passed' });
      for (const check of sample(CHECKS, names.indexOf(name))) {
        const { result } = await failures.call(name, check);
        expect(decisionOf(result, check)).toBe('not met');
        expect(result.outcome).toBe('failed');
      }
    },
    120_000,
  );

  it.each(names.filter((name) => !speaks(name)))(
    'is blamed itself, whether the agent is healthy or not: %s',
    async (name) => {
      for (const fault of [undefined, ...sample(CHECKS, names.indexOf(name))]) {
        const { result, server } = await failures.call(name, fault);
        expect(result).toMatchObject({ outcome: 'error', checks: [], failure: { code: 'speech_failed' } });
        expect(result.failure?.message).toContain(server);
      }
    },
    60_000,
  );
});

describe('a transcription server whose words are too late', () => {
  it('decides nothing about words, for a healthy agent or another one', async () => {
    const [words, times] = CHECKS as [string, string];
    for (const fault of [undefined, words]) {
      const result = await telephone.call('words too late', fault);
      expect(result).toMatchObject({ outcome: 'error', failure: { code: 'stt_slow' } });
      expect([decisionOf(result, words), decisionOf(result, times)]).toEqual(['open', 'met']);
    }
  }, 60_000);
});
