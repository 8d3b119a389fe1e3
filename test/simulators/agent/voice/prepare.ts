import { SOUND_NAMES, soundOf } from '../../../../libs/speech/index.js';
import type { FaultName } from '../faults.js';
import { CALLER_LINES, type CallerLine, textOfLine } from './caller-lines.js';
import { RATE } from './frames.js';
import { type KnownSound, TemplateRecogniser } from './recogniser.js';
import { repertoireOf } from './repertoire.js';
import { soundAsHeard } from './templates.js';
import { type SentenceAudio, Voice } from './voice.js';
import type { VoiceAgentOptions } from './voice-agent.js';

/** The agent's own voice; the callers have all of the others, and this one. */
export const OWN_VOICE = 'rms';
export const CALLER_VOICES = ['slt', 'rms', 'awb', 'kal', 'kal16'];
/** Any pause that ends a segment of speech: the ear shortens them all. */
const HESITATION_MS = 400;

/** Part of a speech engine that the agent needs: 16-bit mono at 8 kHz. */
export interface Synthesiser {
  synthesise(request: { readonly text: string; readonly voice: string }): Promise<{ readonly pcm: Int16Array }>;
}

/** What the agent speaks and hears with. */
export type PreparedVoice = Pick<VoiceAgentOptions, 'voice' | 'recogniser' | 'dialogue'>;

export interface PrepareOptions {
  readonly speech: Synthesiser;
  /** Milliseconds since 1970: the agent says dates. */
  readonly today: number;
  readonly lines?: readonly CallerLine[];
  /** Faults in its words whose sentences are to be ready, too. */
  readonly faults?: readonly FaultName[];
}

/** Synthesises everything that the agent may say or hear: about twenty seconds of work, unless the engine has a cache. */
export async function prepareVoice({
  speech,
  today,
  lines = CALLER_LINES,
  faults = [],
}: PrepareOptions): Promise<PreparedVoice> {
  const sentences = new Sentences(speech);
  await sentences.prepare(repertoireOf(lines.map(textOfLine), today, faults));
  const known: KnownSound[] = [];
  for (const line of lines) {
    for (const voice of CALLER_VOICES) {
      const pcm = soundAsHeard(await soundOfLine(speech, line, voice, HESITATION_MS));
      known.push({ type: 'line', text: textOfLine(line), pcm });
    }
  }
  for (const name of SOUND_NAMES) {
    // Their backchannels are those of all women and men.
    for (const voice of ['slt', 'rms']) {
      known.push({ type: 'sound', text: name, pcm: soundAsHeard((await soundOf(name, voice)).pcm) });
    }
  }
  return { voice: new Voice(sentences.audioOf), recogniser: new TemplateRecogniser(known) };
}

/** A caller's line in one voice. */
export async function soundOfLine(
  speech: Synthesiser,
  line: CallerLine,
  voice: string,
  hesitationMs: number,
): Promise<Int16Array> {
  const whole: number[] = [];
  for (const text of typeof line === 'string' ? [line] : line) {
    const { pcm } = await speech.synthesise({ text, voice });
    if (whole.length > 0) whole.push(...new Array<number>((RATE * hesitationMs) / 1_000).fill(0));
    for (const sample of pcm) whole.push(sample);
  }
  return Int16Array.from(whole);
}

/** The agent's sentences in its own voice. */
class Sentences {
  private readonly sentences = new Map<string, Int16Array>();
  private readonly pending = new Set<string>();

  constructor(private readonly speech: Synthesiser) {}

  /** What was not prepared, such as a telephone number that was keyed in, is synthesised at the first request. */
  readonly audioOf: SentenceAudio = (sentence) => {
    const pcm = this.sentences.get(sentence);
    if (!pcm && !this.pending.has(sentence)) void this.synthesise(sentence).catch(() => undefined);
    return pcm;
  };

  async prepare(sentences: readonly string[]): Promise<void> {
    for (const sentence of sentences) await this.synthesise(sentence);
  }

  private async synthesise(sentence: string): Promise<void> {
    this.pending.add(sentence);
    try {
      const { pcm } = await this.speech.synthesise({ text: sentence, voice: OWN_VOICE });
      this.sentences.set(sentence, pcm);
    } finally {
      this.pending.delete(sentence);
    }
  }
}
