import { serveTasks } from '../../concurrency/index.js';
import type { Sound, SpeechFailure } from '../sound.js';
import { BadSound, readSpeech, type SpokenBody } from './read-speech.js';

/** A failure is a message, because only plain data passes between threads. */
export type SpokenAnswer = { readonly sound: Sound } | { readonly failure: SpeechFailure; readonly reason: string };

serveTasks((task: SpokenBody): SpokenAnswer => {
  try {
    return { sound: readSpeech(task) };
  } catch (error) {
    if (error instanceof BadSound) return { failure: error.failure, reason: error.message };
    throw error;
  }
});
