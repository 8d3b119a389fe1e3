import { applyGain, dbfs, TELEPHONE_RATE } from '../../audio/index.js';
import type { SpeechEngine, SpeechRequest } from '../sound.js';

const SECONDS = 8;
const LEVEL_DBFS = -26;
/** Between two lines of one talker. */
const PAUSE = 0.3 * TELEPHONE_RATE;

/** Two lines each, which no script is likely to contain. */
const TALKERS: readonly { readonly voice: string; readonly rate: number; readonly lines: readonly string[] }[] = [
  { voice: 'slt', rate: 1, lines: ['The river was frozen until the middle of March.', 'We walked across it twice.'] },
  { voice: 'rms', rate: 1.1, lines: ['Nobody remembers who painted the old lighthouse.', 'It used to be green.'] },
  { voice: 'awb', rate: 1, lines: ['My brother collects stamps with pictures of birds.', 'He has hundreds of them.'] },
  { voice: 'slt', rate: 0.85, lines: ['There were apples all over the garden this morning.', 'The wind was strong.'] },
  { voice: 'kal', rate: 1, lines: ['That film goes on for three hours and a half.', 'I fell asleep before the end.'] },
  { voice: 'rms', rate: 0.9, lines: ['They moved the piano down the stairs on a Sunday.', 'Every step was heard.'] },
];

/**
 * The talk of a room full of people: synthetic voices at once, eight seconds at 8,000 Hz that can be repeated without a
 * seam, at -26 dBFS.
 */
export async function babbleLoop(engine: SpeechEngine, signal?: AbortSignal): Promise<Int16Array> {
  const length = SECONDS * TELEPHONE_RATE;
  const sum = new Float64Array(length);
  for (const [index, { voice, rate, lines }] of TALKERS.entries()) {
    // The talkers begin at different times, and go on at the start of the loop what they begin at its end.
    let at = Math.round((index * length) / TALKERS.length);
    for (const text of lines) {
      const request: SpeechRequest = { text, voice, rate };
      const { pcm } = await engine.synthesise(request, signal);
      pcm.forEach((sample, offset) => (sum[(at + offset) % length]! += sample));
      at += pcm.length + PAUSE;
    }
  }
  // Half of the sum of six voices at -26 dBFS is far from full scale.
  const mixed = Int16Array.from(sum, (sample) => Math.round(sample / 2));
  return applyGain(mixed, LEVEL_DBFS - dbfs(mixed));
}
