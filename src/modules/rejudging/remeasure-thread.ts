/** Entry of the threads of `RecordedCalls`. It imports nothing of the framework, so that a thread starts quickly. */
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type LineRate, readWav } from '../../../libs/audio/index.js';
import { serveTasks } from '../../../libs/concurrency/index.js';
import { type CallResult, readFacts, remeasure, type RemeasureOptions } from '../../../libs/simulation/index.js';

const decompressed = promisify(gunzip);

export interface RemeasureTask extends Omit<RemeasureOptions, 'facts' | 'lane'> {
  /** Paths of the recording and of the facts beside it. */
  readonly audio: string;
  readonly facts: string;
}

export type RemeasureOutcome = { readonly result: CallResult } | { readonly refusal: string };

serveTasks(async ({ audio, facts, ...call }: RemeasureTask): Promise<RemeasureOutcome> => {
  const files = await Promise.all([readFile(audio), readFile(facts)]).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (!files) return { refusal: 'it was deleted' };
  const [wav, compressed] = files;
  const observed = readFacts((await decompressed(compressed)).toString('utf8'));
  if (!observed) return { refusal: 'another version of the service stored what was observed' };
  const { rate, channels } = readWav(wav);
  // The recorder writes the rates of lines only.
  const lane = { rate: rate as LineRate, pcm: channels[1]! };
  return { result: await remeasure({ ...call, facts: observed, lane }) };
});
