import { VirtualClock } from '../../index.js';
import type { TurnAnswer } from '../facts/turn-question.js';
import { AnsweringCaller } from './answering-caller.js';

/** The answer of a caller that decides after `thinkMs`, and whose line is spoken after `speakMs`. */
async function answerOf(thinkMs: number, speakMs: number): Promise<TurnAnswer> {
  const clock = new VirtualClock();
  const until = (ms: number, signal: AbortSignal) => clock.sleep(ms, signal);
  const answered = new Promise<TurnAnswer>((resolve) => {
    const answering = new AnsweringCaller({
      caller: {
        kind: 'generated',
        next: async (_heard, signal) => {
          await until(thinkMs, signal);
          return { type: 'hang_up', code: 'caller_done', reason: 'Done' };
        },
        ahead: () => undefined,
        retract: () => undefined,
      },
      speak: () => Promise.reject(new Error('There is no rest')),
      prepare: async (_action, signal) => {
        await until(speakMs, signal);
        return { steps: [], isComplete: true };
      },
      engine: 'tts.example kokoro',
      clock,
      signal: new AbortController().signal,
    });
    answering.ask({ turn: 1, attempt: 1, isSilent: false, utterances: [] }, resolve);
  });
  await clock.sleep(12_000);
  return answered;
}

describe('a caller whose line is not spoken in time', () => {
  it('names its speech engine', async () => {
    expect(await answerOf(1_000, 20_000)).toMatchObject({
      failure: {
        code: 'speech_failed',
        fault: 'infrastructure',
        retryable: true,
        message: expect.stringContaining('tts.example kokoro took too long: no audio 10 s after'),
      },
    });
  });

  it('names its decision if that took most of the time', async () => {
    expect(await answerOf(20_000, 0)).toMatchObject({ failure: { code: 'caller_slow', retryable: true } });
  });
});
