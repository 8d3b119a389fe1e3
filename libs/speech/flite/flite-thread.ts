import { parentPort } from 'node:worker_threads';
import { prepareSound } from '../prepare-sound.js';
import { type Sound, type SpeechFailure } from '../sound.js';
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

/** Sent once, when the engine is compiled. */
export const READY = 'ready';

const flite = loadFlite();

function answer(task: FliteTask): FliteAnswer {
  try {
    const sound = prepareSound(speakWithFlite(flite, task));
    return sound ? { sound } : { failure: 'silent', reason: 'the engine returned no audible sound' };
  } catch (error) {
    return { failure: 'engine', reason: String(error) };
  }
}

const port = parentPort;
if (!port) throw new Error('flite-thread must run in a worker thread');
port.on('message', (task: FliteTask) => {
  const result = answer(task);
  port.postMessage(result, 'sound' in result ? [result.sound.pcm.buffer as ArrayBuffer] : []);
});
port.postMessage(READY);
