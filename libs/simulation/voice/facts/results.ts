import type { Span, SpokenWord, ThinkingFact, WireFinding } from './facts.js';

/** Measures of a voice call, as `GET /calls/{id}` shows them. Milliseconds from the answer; null where not applicable. */
export interface VoiceMeasures {
  /** `estimated` where speaking times are computed from words; `recorded` where all are from a recording made elsewhere. */
  readonly clock: 'heard' | 'line' | 'estimated' | 'recorded';
  readonly latencies: readonly VoiceLatency[];
  readonly bargeIns: readonly BargeInResult[];
  readonly backchannels: readonly SoundResult[];
  readonly interruptions: readonly {
    readonly atMs: number;
    readonly overlapMs: number;
    readonly inHesitation: boolean;
  }[];
  /** Null unless both sides were heard. */
  readonly overlapMs: number | null;
  readonly deadAir: { readonly totalMs: number; readonly longestMs: number; readonly over3s: number };
  /** `perMinute` is null if the agent was not heard; both are null for a recording, which shows no playout buffer. */
  readonly choppiness: { readonly gaps: number | null; readonly perMinute: number | null };
  readonly speech: { readonly agentMs: number; readonly callerMs: number };
  readonly speechShare: number | null;
  readonly agentWordsPerMinute: number | null;
  /** Both are null if the agent sent no sound, and `agentDbfs` if its sound was inaudible. */
  readonly level: {
    readonly agentDbfs: number | null;
    readonly clippedPercent: number | null;
    readonly inaudible?: true;
  };
  /** Background audio under the agent's voice: its median level, and when it was first heard; null if none was found. */
  readonly background: { readonly dbfs: number; readonly fromMs: number } | null;
  readonly greetingMs: number | null;
  /** How far it may be off, as for a latency; absent for 0. */
  readonly greetingPlusMinusMs?: number;
  readonly collisions: number;
  /** When the caller thought about its next line; in no other measure. Absent if it did not think. */
  readonly callerThinking?: readonly ThinkingFact[];
}

/** From the end of the caller's speech to the agent's first onset after it, one per turn of the caller. */
export interface VoiceLatency {
  readonly turn: number;
  readonly heardMs: number | null;
  readonly firstByteMs: number | null;
  readonly leadingSilenceMs: number | null;
  /** From the onset to the agent's speech, if a short sound opens the answer. */
  readonly leadInMs?: number;
  readonly answered: boolean;
  /** Why `heardMs` is null although the agent spoke. */
  readonly note?: 'already_speaking' | 'answered_early';
  readonly plusMinusMs: number;
}

export interface BargeInResult {
  readonly atMs: number;
  readonly afterHeardMs: number;
  readonly possible: boolean;
  /** Null when undecided. */
  readonly yielded: boolean | null;
  readonly yieldMs: number | null;
  readonly plusMinusMs: number;
  /** Played milliseconds of the agent's item at the cut, leading silence included; without a cut, at the end of its sound. */
  readonly heardUntilMs: number;
}

export interface SoundResult {
  readonly type: 'backchannel' | 'noise';
  readonly atMs: number;
  /** Whether the agent kept its turn, or its silence; null when undecided. */
  readonly kept: boolean | null;
}

/** Words of one side with their times, where they are known. */
export interface TimedWord extends SpokenWord {
  readonly speaker: 'caller' | 'agent';
  /** Where a word of the agent comes from; absent for words of the caller, which spoke its line. */
  readonly source?: WordSource;
  /** Present on a word that was dropped before it was heard. */
  readonly unheard?: true;
  /** Present on a word at which the agent was cut off: it may have been heard. */
  readonly uncertain?: true;
}

/**
 * Its platform reported what the agent generated, a recogniser transcribed what was heard of it, or the transcript of a call
 * that was recorded elsewhere has it.
 */
export type WordSource = 'wire' | 'recogniser' | 'transcript';

/** Where the agent's words on a voice call come from. */
export interface WordsFrom {
  readonly source: WordSource;
  /** The model that recognised them; null where the platform reported what it generated. */
  readonly model: string | null;
  /**
   * `word`: the source's own; `estimated` and `utterance`: spread over the audio of what they belong to, which the platform
   * reported or the recogniser heard.
   */
  readonly times: 'word' | 'estimated' | 'utterance';
}

/** The part of a call's result that only voice calls have. */
export interface VoiceResult {
  readonly voice: VoiceMeasures;
  /** None for a call that was recorded elsewhere, whose messages are not known. */
  readonly wireFindings: readonly WireFinding[];
  readonly words: readonly TimedWord[];
  /** Number of further words that are not listed; absent if there are none. */
  readonly wordsOmitted?: number;
  /** Null if no words of the agent are known. */
  readonly wordsFrom: WordsFrom | null;
  /** Audible spans of both lanes, for drawing. */
  readonly lanes: { readonly caller: readonly Span[]; readonly agent: readonly Span[] };
}
