import { decodeMulaw, encodeMulaw } from '../../../../libs/audio/index.js';
import { Ear } from './ear.js';
import { FRAME_MS, FRAME_SAMPLES, RATE } from './frames.js';

/** Silence around a sound, so that the ear hears its beginning and its end, and knows the line. */
const AROUND_MS = 1_000;

/** What the ear would pass to its recogniser for this sound on a quiet line. Empty if it hears nothing. */
export function soundAsHeard(pcm: Int16Array): Int16Array {
  let heard: Int16Array = new Int16Array(0);
  const ear = new Ear({
    recognise: (sound) => {
      heard = sound;
      return { type: 'line', text: '', isComplete: true };
    },
  });
  const around = (RATE * AROUND_MS) / 1_000;
  const padded = new Int16Array(pcm.length + 2 * around);
  padded.set(pcm, around);
  const line = decodeMulaw(encodeMulaw(padded));
  for (let frame = 0; (frame + 1) * FRAME_SAMPLES <= line.length; frame += 1) {
    ear.hear((frame + 1) * FRAME_MS, line.slice(frame * FRAME_SAMPLES, (frame + 1) * FRAME_SAMPLES));
  }
  if (ear.utterance) ear.recognise();
  return heard;
}
