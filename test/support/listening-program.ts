/** A transcription server that listens, in a process of its own: it is started by `ListeningProcess`. */
import { tmpdir } from 'node:os';
import path from 'node:path';
import { OWN_VOICE, repertoireOf } from '../simulators/agent/testing/voice.js';
import { CachedSpeech, FliteEngine } from '../../libs/speech/index.js';
import {
  type ListeningBehaviour,
  listeningServer,
  SentenceListener,
} from '../simulators/transcription/transcription-double.js';

export interface ListeningInput {
  /** What callers say to the agent whose answers it knows. */
  readonly lines: readonly string[];
  readonly faults: Parameters<typeof repertoireOf>[2];
  readonly today: number;
  readonly behaviour: ListeningBehaviour;
  /** Further sentences that it knows, in the voice of the agent. */
  readonly sentences?: readonly string[];
}

/** What it received. */
export interface Listened {
  readonly authorization: string | undefined;
  readonly fields: Readonly<Record<string, string>>;
  readonly ms: number;
}

async function main({ lines, faults, today, behaviour, sentences = [] }: ListeningInput): Promise<void> {
  const engine = new FliteEngine();
  const speech = new CachedSpeech(engine, { folder: path.join(tmpdir(), 'reference-agent-speech') });
  const sounds = [];
  for (const text of [...repertoireOf(lines, today, faults), ...sentences]) {
    sounds.push(await speech.synthesise({ text, voice: OWN_VOICE }));
  }
  await engine.close();
  const server = listeningServer(new SentenceListener(sounds), behaviour);
  const url = await server.start();
  process.send?.({ url });
  let reported = 0;
  setInterval(() => {
    for (const { authorization, fields, pcm, rate } of server.received.slice(reported)) {
      const listened: Listened = { authorization, fields, ms: (pcm.length / rate) * 1_000 };
      process.send?.({ listened });
      reported++;
    }
  }, 20);
  process.once('disconnect', () => process.exit());
}

void main(JSON.parse(process.argv[2]!) as ListeningInput);
