import { readFile } from 'node:fs/promises';
import { readWav, speechBounds } from '../../audio/index.js';
import { FLITE_VOICES, type FliteVoiceName, isFliteVoice } from '../flite/voices.js';
import type { Sound } from '../sound.js';

/** Short sounds of a caller that are not words, as files: a synthesised "mm-hmm" lasts more than a second. */
export const SOUND_NAMES = ['mm-hmm', 'uh-huh', 'yeah', 'cough', 'door'] as const;
export type SoundName = (typeof SOUND_NAMES)[number];

/** The voices that the backchannels are made of, one for each gender. */
export const BACKCHANNEL_VOICES = { FEMALE: 'slt', MALE: 'rms' } as const satisfies Record<string, FliteVoiceName>;

const WITHOUT_VOICE: readonly string[] = ['cough', 'door'] satisfies SoundName[];

/**
 * A sound at -26 dBFS active level: a backchannel of 300 to 450 ms, a cough of 350 ms or a door of 300 ms.
 *
 * @param voice of the caller, whose gender the backchannels have
 */
export async function soundOf(name: SoundName, voice: string): Promise<Sound> {
  const gender = isFliteVoice(voice) ? FLITE_VOICES[voice].gender : 'FEMALE';
  const file = WITHOUT_VOICE.includes(name) ? name : `${name}.${gender.toLowerCase()}`;
  const { channels } = readWav(await readFile(new URL(`./${file}.wav`, import.meta.url)));
  const pcm = channels[0]!;
  const { start, end } = speechBounds(pcm);
  return { pcm, speechStart: start, speechEnd: end, words: [] };
}
