/** A word with its place in the audio, in milliseconds from its first sample. */
export interface TranscribedWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

export interface Transcription {
  readonly text: string;
  /** The words of the text with the server's times; absent if it gave none, or none that can be right. */
  readonly words?: readonly TranscribedWord[];
  /** Present if more may have been said: a mark of the recogniser stands in place of it. */
  readonly isPartial?: true;
}

export interface TranscriptionRequest {
  /** Mono, 16 bits. */
  readonly pcm: Int16Array;
  readonly rate: number;
  /** ISO 639-1. */
  readonly language: string;
  /** Whose request it is, such as a call: owners take turns. */
  readonly owner?: string;
  readonly signal?: AbortSignal;
}

/** Turns audio into words. */
export interface Recogniser {
  /** Null if what it returned cannot be what was said. */
  transcribe(request: TranscriptionRequest): Promise<Transcription | null>;
}

/** The server gave no usable answer. The message names its host and holds nothing secret. */
export class RecogniserError extends Error {
  override readonly name = 'RecogniserError';

  constructor(
    message: string,
    /** Whether the same request would fail again. */
    readonly isPermanent: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
