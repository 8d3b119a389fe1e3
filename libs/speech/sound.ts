/**
 * A spoken line, ready for a call: 16-bit mono, without the silence around it, at -26 dBFS active speech level. The
 * same shape as a prepared sound of a voice call.
 */
export interface Sound {
  readonly pcm: Int16Array;
  /** Samples per second; absent: 8,000, as on the telephone. */
  readonly rate?: number;
  /** First sample above -45 dBFS, and the one after the last. */
  readonly speechStart: number;
  readonly speechEnd: number;
  /** In order; times in milliseconds from the first sample. What makes no sound, such as a dash, is left out. */
  readonly words: readonly SoundWord[];
}

export interface SoundWord {
  /** As in the text, with its punctuation. */
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Present if the engine gives no times: they are spread over the letters of the text. */
  readonly estimated?: true;
}

export interface SpeechRequest {
  /** Plain text of at most `MAX_TEXT_LENGTH` characters; markup is read aloud, not interpreted. */
  readonly text: string;
  readonly voice: string;
  /** Speaking rate, 0.5 to 2; 1 is the voice's own. */
  readonly rate?: number;
  /** Whose request it is, such as a workspace: owners take turns. It has no effect on the sound. */
  readonly owner?: string;
}

/** Turns text into audio. Equal requests yield equal audio as long as `name` and `version` are the same. */
export interface SpeechEngine {
  readonly name: string;
  /** Changes when the same request may sound different. */
  readonly version: string;
  /** @throws SpeechError; the signal's reason */
  synthesise(request: SpeechRequest, signal?: AbortSignal): Promise<Sound>;
}

/** In characters; the limit of the usual speech servers too. */
export const MAX_TEXT_LENGTH = 4_096;

/**
 * Why there is no sound: `request` (text, voice or rate cannot be spoken by this engine), `silent` (the engine returned
 * nothing audible), `duration` (a duration that cannot be right for the text), `engine` (it failed), `timeout`.
 */
export type SpeechFailure = 'request' | 'silent' | 'duration' | 'engine' | 'timeout';

export class SpeechError extends Error {
  override readonly name = 'SpeechError';
  /** Whether the same request would fail again. */
  readonly isPermanent: boolean;

  constructor(
    readonly failure: SpeechFailure,
    readonly text: string,
    reason: string,
    { isPermanent }: { readonly isPermanent?: boolean } = {},
  ) {
    super(`"${excerpt(text)}" cannot be spoken: ${reason}`);
    this.isPermanent = isPermanent ?? (failure === 'request' || failure === 'silent' || failure === 'duration');
  }
}

/** @throws SpeechError for a text that no engine speaks */
export function requireText(text: string): void {
  if (text.trim() === '') throw new SpeechError('request', text, 'the text is empty');
  if (text.length > MAX_TEXT_LENGTH) {
    throw new SpeechError('request', text, `the text has ${text.length} characters, the limit is ${MAX_TEXT_LENGTH}`);
  }
}

const EXCERPT_LENGTH = 80;

function excerpt(text: string): string {
  const line = text.replace(/[\p{Cc}\s]+/gu, ' ').trim();
  return line.length > EXCERPT_LENGTH ? `${line.slice(0, EXCERPT_LENGTH)}…` : line;
}
