/** A thread that makes calls over Twilio on the virtual clock, with a transcription server that mishears a tenth of the words. */
import { once } from 'node:events';
import { type MessagePort, parentPort } from 'node:worker_threads';
import {
  judgedTelephoneWords,
  type JudgedTelephoneWords,
  type TelephoneWordCell,
  TelephoneWords,
  VoiceCalls,
} from '../simulators/agent/testing/voice.js';

const WORD_ERRORS = 0.1;

export interface MisheardCell extends TelephoneWordCell {
  /** Seed of the errors. */
  readonly errors: number;
}

/** With the attempts that the service makes. */
async function judged(words: TelephoneWords, { errors, ...cell }: MisheardCell): Promise<JudgedTelephoneWords> {
  const recogniser = await words.recogniser(cell.key, { wordErrors: WORD_ERRORS, seed: errors });
  return judgedTelephoneWords(cell, await words.untilEnd(cell, recogniser));
}

async function serve(port: MessagePort): Promise<never> {
  const words = new TelephoneWords(new VoiceCalls());
  port.postMessage('ready');
  for (;;) {
    const [cell] = (await once(port, 'message')) as [MisheardCell];
    port.postMessage(await judged(words, cell));
  }
}

await serve(parentPort!);
