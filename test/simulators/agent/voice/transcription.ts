import { PROBE_SENTENCE, type SpeechEngine } from '../../../../libs/speech/index.js';
import { listening } from '../../transcription/listening.js';
import { SentenceListener } from '../../transcription/sentence-listener.js';
import { TranscriptionServer } from '../../transcription/transcription-server.js';
import type { FaultName } from '../faults.js';
import { CALLER_LINES, textOfLine } from './caller-lines.js';
import { OWN_VOICE } from './prepare.js';
import { repertoireOf } from './repertoire.js';
import { WORD_FAULT_NAMES } from './word-faults.js';

export interface TranscriptionOptions {
  readonly port: number;
  readonly host: string;
  readonly speech: SpeechEngine;
  /** Milliseconds since 1970: the agent says dates. */
  readonly today: number;
  /** What callers say to the agent; by default everything that it understands. */
  readonly lines?: readonly string[];
  /** Those in its words that the agent may have; by default all. */
  readonly faults?: readonly FaultName[];
}

/**
 * Starts a transcription server that understands what the agent says, with any of its faults, and nothing else. It gets
 * nothing but audio.
 */
export async function startTranscription({
  port,
  host,
  speech,
  today,
  lines = CALLER_LINES.map(textOfLine),
  faults = WORD_FAULT_NAMES,
}: TranscriptionOptions): Promise<{ readonly url: string; close(): Promise<void> }> {
  let answer: ReturnType<typeof listening> = () => PREPARING;
  const server = new TranscriptionServer((audio) => answer(audio));
  const url = await server.start(port, host);
  try {
    const sounds = [];
    // The service begins with a sentence that it knows.
    for (const text of [...repertoireOf(lines, today, faults), PROBE_SENTENCE]) {
      sounds.push(await speech.synthesise({ text, voice: OWN_VOICE }));
    }
    answer = listening(new SentenceListener(sounds));
  } catch (error) {
    await server.stop();
    throw error;
  }
  return { url, close: () => server.stop() };
}

const PREPARING = { status: 503, body: { error: { message: 'The server still prepares what it understands' } } };
