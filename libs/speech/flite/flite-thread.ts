import { serveTasks } from '../../concurrency/index.js';
import { prepareSound } from '../prepare-sound.js';
import type { Sound, SpeechFailure } from '../sound.js';
import { loadFlite } from './flite-module.js';
import { speakWithFlite } from './flite.js';
import type { FliteVoiceName } from './voices.js';

export interface FliteTask {
  readonly text: string;
  readonly voice: FliteVoiceName;
  readonly rate: number;
}

/** A failure is a message, because only plain data passes between threads. */
export type FliteAnswer = { readonly sound: Sound } | { readonly failure: SpeechFailure; readonly reason: string };

const flite = loadFlite();

serveTasks((task: FliteTask): FliteAnswer => {
  try {
    const sound = prepareSound(speakWithFlite(flite, task));
    return sound ? { sound } : { failure: 'silent', reason: 'the engine returned no audible sound' };
  } catch (error) {
    return { failure: 'engine', reason: String(error) };
  }
});
