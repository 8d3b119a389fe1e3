import { randomUUID } from 'node:crypto';
import type { Recogniser } from '../../../speech/index.js';
import type { Clock } from '../../time/clock.js';
import { type Failure, failure } from '../../timeline/failure.js';
import type { RecognisedFact, RecognisedPiece, VoiceFacts } from '../facts/facts.js';
import type { HeardPiece } from '../facts/heard-piece.js';
import type { AgentUtterance } from '../facts/turn-question.js';
import { overlapOf } from '../facts/spans.js';
import { utterancesOf } from '../words/utterances.js';
import { recut } from './recut.js';

/** How the agent's words become known if the wire does not report them, or if the heard words count. */
export interface VoiceTranscription {
  /** A virtual clock waits for the recogniser (`Clock.awaitExternal`). */
  readonly recogniser: Recogniser;
  /** `auto`: the words of the wire, if it reports any; `heard`: always those of the recogniser. */
  readonly mode: 'auto' | 'heard';
  /** Shown with the words. */
  readonly model: string | null;
  /** Whether this call needs words. Otherwise the recogniser is not asked. */
  readonly needed: boolean;
}

export interface TranscriberOptions extends Pick<VoiceTranscription, 'recogniser' | 'model'> {
  /** BCP 47. */
  readonly language: string;
  /** Owner of the requests; owners take turns. */
  readonly owner?: string | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Maximum time for the words after the end of the call. It is longer for a recording, which is heard at once. */
  readonly finalMs?: number;
}

/** Default for the time that words may take after the end of a call. */
export const FINAL_MS = 30_000;
/** Audio kept for a second hearing: at most 29 MB, at 24 kHz. */
const MAX_KEPT_MS = 600_000;

const NOTHING = new Int16Array();

interface Heard {
  piece: HeardPiece;
  /** Undefined while it is transcribed. */
  result?: RecognisedPiece;
}

/** Has the agent's audio transcribed piece by piece during the call. */
export class Transcriber {
  private readonly heard: Heard[] = [];
  private readonly working = new Set<Promise<void>>();
  private readonly owner: string;
  private readonly abort = new AbortController();
  private readonly finalMs: number;
  private keptMs = 0;
  private isWhole = true;

  /** @param onWords called when more words are known */
  constructor(
    private readonly options: TranscriberOptions,
    private readonly onWords: () => void = () => undefined,
  ) {
    this.owner = options.owner ?? randomUUID();
    this.finalMs = options.finalMs ?? FINAL_MS;
  }

  readonly hear = (piece: HeardPiece): void => {
    const heard: Heard = { piece };
    this.heard.push(heard);
    this.start(piece, (result) => {
      heard.result = result;
      this.onWords();
    });
    this.keptMs += piece.endMs - piece.startMs;
    if (this.keptMs > MAX_KEPT_MS) this.forget();
  };

  /** The words known so far. */
  get recognised(): RecognisedFact {
    const pieces = this.heard.flatMap(({ result }) => result ?? []);
    return { model: this.options.model, pieces };
  }

  /** Waits for all words of the call that is over, up to a limit. @throws the signal's reason */
  async final(): Promise<RecognisedFact> {
    await this.settled();
    return { model: this.options.model, pieces: this.heard.map(({ piece, result }) => result ?? this.late(piece)) };
  }

  /**
   * Transcribes the same audio a second time: each turn of the agent as one piece with wider margins.
   * @returns undefined if not all audio was kept
   * @throws the signal's reason
   */
  async hearAgain(agent: VoiceFacts['agent']): Promise<RecognisedPiece[] | undefined> {
    if (!this.isWhole) return undefined;
    const results: Heard[] = recut(
      this.heard.map(({ piece }) => piece),
      agent,
    ).map((piece) => ({ piece }));
    for (const heard of results) this.start(heard.piece, (result) => (heard.result = result));
    await this.settled();
    return results.map(({ piece, result }) => result ?? this.late(piece));
  }

  /** Fills in the words known so far, and says why others will stay unknown. */
  fill(utterances: readonly AgentUtterance[]): { readonly utterances: AgentUtterance[]; readonly failure?: Failure } {
    const agent = utterances.map((span) => ({ ...span, firstByteMs: span.startMs, dbfs: 0 }));
    const endMs = utterances.at(-1)?.endMs ?? 0;
    const { recognised } = this;
    const facts = { agent, said: [], arrivals: [], clears: [], end: { atMs: endMs + 1 }, recognised };
    const filled = utterancesOf(facts);
    const unknown = recognised.pieces.find(
      (piece) =>
        (piece.text === null || piece.isPartial) &&
        filled.some((one) => one.text === null && overlapOf(one, piece) > 0),
    );
    return { utterances: filled, ...(unknown && { failure: unknown.failure ?? failure('words_unknown') }) };
  }

  private forget(): void {
    const kept = this.isWhole ? this.heard : this.heard.slice(-1);
    this.isWhole = false;
    for (const heard of kept) heard.piece = { ...heard.piece, pcm: NOTHING };
  }

  private start(piece: HeardPiece, done: (result: RecognisedPiece) => void): void {
    const work = this.transcribed(piece).then(done);
    this.working.add(work);
    void work.finally(() => this.working.delete(work));
  }

  private async transcribed({ pcm, rate, startMs, voice }: HeardPiece): Promise<RecognisedPiece> {
    const { recogniser, language } = this.options;
    const signal = AbortSignal.any([this.options.signal, this.abort.signal]);
    const place = { startMs: voice.startMs, endMs: voice.endMs };
    try {
      const [iso = language] = language.toLowerCase().split('-');
      const result = await recogniser.transcribe({ pcm, rate, language: iso, owner: this.owner, signal });
      if (!result) return { ...place, text: null };
      const words = result.words?.map((word) => ({
        text: word.text,
        startMs: startMs + word.startMs,
        endMs: startMs + word.endMs,
      }));
      return { ...place, text: result.text, ...(words && { words }), ...(result.isPartial && { isPartial: true }) };
    } catch (error) {
      return { ...place, text: null, failure: failed(error) };
    }
  }

  /** @throws the signal's reason */
  private async settled(): Promise<void> {
    const { clock, signal } = this.options;
    let cancel = () => {};
    const limit = new Promise<void>((resolve) => (cancel = clock.schedule(this.finalMs, resolve)));
    await Promise.race([Promise.all(this.working), limit]);
    cancel();
    signal.throwIfAborted();
    if (this.working.size > 0) this.abort.abort(new Error('The words were not awaited any longer'));
  }

  private late({ voice }: HeardPiece): RecognisedPiece {
    const why = `${Math.round(this.finalMs / 1_000)} s after they were asked for`;
    return { ...voice, text: null, failure: failure('stt_slow', why) };
  }
}

function failed(error: unknown): Failure {
  const isPermanent = error instanceof Error && 'isPermanent' in error && error.isPermanent === true;
  return failure('stt_failed', { ...(error instanceof Error && { what: error.message }), isPermanent });
}
