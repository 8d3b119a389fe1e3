import type { Failure } from '../../timeline/failure.js';
import type { JsonValue } from '../../timeline/text.js';
import type { EndCode } from '../../timeline/end-codes.js';
import type { EndEntry, ScriptSource, ToolCallEntry } from '../../timeline/timeline.js';

/**
 * What was observed on a voice call: plain data, from which timeline, measures and checks are computed. All times are
 * milliseconds from the answer, exact to the sample; the agent's sound is on the heard clock (when it was played, not when
 * it was sent).
 */
export interface VoiceFacts {
  /** What the caller did, in order of its start. */
  readonly caller: readonly CallerAct[];
  /** Audible sound of the agent as found by the energy gate, in order. */
  readonly agent: readonly AgentSound[];
  /** Background audio under the agent's voice; null if none was found. */
  readonly background: BackgroundFact | null;
  /** The agent's turns as the turn policy saw them. */
  readonly agentTurns: readonly AgentTurnFact[];
  /** Spans in which the caller waited in vain for the agent, or waited because its script says so. */
  readonly silences: readonly (Span & { readonly of: 'agent' | 'caller'; readonly turn: number })[];
  /** When the caller thought about what to do at its turn; absent if it did not. */
  readonly thinking?: readonly ThinkingFact[];
  readonly arrivals: readonly Arrival[];
  readonly clears: readonly { readonly atMs: number; readonly droppedMs: number }[];
  /** The playout buffer ran empty between two sounds, audible or not; without those that a stall of the tester caused. */
  readonly underruns: readonly (Span & {
    /** Whether the last 20 ms before and the first 20 ms after it were active. */
    readonly isBetweenSpeech: boolean;
  })[];
  /** What may be different without the tester's stalls; absent if it had none. */
  readonly stalled?: {
    /** Underruns that a stall may have caused. */
    readonly underruns: VoiceFacts['underruns'];
    /** Codes of the findings that would not have been made if the agent's messages had been read without delay. */
    readonly findings: readonly string[];
  };
  readonly level: AgentLevel;
  /** When the stream began; absent if that was the answer. */
  readonly streamStartMs?: number;
  readonly end: { readonly by: EndEntry['by']; readonly code: EndCode; readonly reason: string; readonly atMs: number };
  /** Present if the connection broke off; `end.code` is then `failure`. */
  readonly failure?: Failure;
  /** Number of the caller's turns that the agent answered audibly, and its greeting. */
  readonly answeredTurns: number;
  /** Words that the agent generated, where its platform reports them, in order. */
  readonly said: readonly SaidFact[];
  /** What a recogniser understood, if one was asked: its words decide, and not those of the platform. */
  readonly recognised?: RecognisedFact;
  /** The platform's transcripts of the caller. */
  readonly heardCaller: readonly HeardCallerFact[];
  readonly toolCalls: readonly ToolCallFact[];
  /** That of `CallView`. */
  readonly unknownTools?: string | null;
  readonly wireFindings: readonly WireFinding[];
  /** What the agent asked of the platform beside sound, such as a transfer. */
  readonly platformEvents: readonly PlatformEvent[];
  readonly timing: MediaTiming;
  /** What hearing the recording again needs beside its audio; absent if the recording is not exactly what was heard. */
  readonly hearing?: HearingFact;
  /** Present if the agent's times are the earliest that the tester's stalls allow. */
  readonly isEarliest?: true;
  /** Present if the call was recorded elsewhere: everything is from its recording, and from its transcript. */
  readonly imported?: ImportedFact;
}

export interface ImportedFact {
  /** How far the beginnings and ends of what the caller said may be off: they were found in its channel. */
  readonly callerEdgesMs: number;
  /** Present if its caller was a real one. */
  readonly isProduction?: true;
}

export interface HearingFact {
  /** Number of whole frames of 20 ms that were heard. */
  readonly frames: number;
  /** Ends of turns that the platform reported: after how many frames, and when the sound before them was played. */
  readonly turnEnds: readonly { readonly afterFrames: number; readonly playedAtMs: number }[];
}

export interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/** Where in the script an act comes from; positions count from 0. */
interface Scripted extends Span {
  /** Null for a caller without a script. */
  readonly step: number | null;
  /** Number of the caller's turn that it belongs to; 0 before its first line. */
  readonly turn: number;
}

export interface SpokenWord extends Span {
  readonly text: string;
  /** Present if the time was not measured, but spread over the letters of the line. */
  readonly estimated?: true;
}

/** A line of the caller. `startMs` and `endMs` are its first and last sample above -45 dBFS. */
export interface SayAct extends Scripted {
  readonly type: 'say';
  readonly text: string;
  /** Which answers of its step it is. */
  readonly source?: Pick<ScriptSource, 'answers' | 'otherwise'>;
  /** Its parts; more than one when it has hesitations. */
  readonly parts: readonly Span[];
  readonly words: readonly SpokenWord[];
  /** Present when the caller repeated its line because the agent had not answered. */
  readonly repeated?: true;
  /** Present where only its sound is known; `text` is then empty. */
  readonly hasUnknownWords?: true;
  /** Present when the caller had not finished: the rest of what it says was not ready in time. */
  readonly goesOn?: true;
  /** Present when the line was meant to be spoken over the agent. */
  readonly bargeIn?: {
    readonly afterMs: number;
    /** False when the agent's turn ended first. */
    readonly possible: boolean;
    /** Audible milliseconds of the agent's turn before the line. */
    readonly afterHeardMs: number;
    /** Milliseconds of agent sound in the playout buffer at the line's start. */
    readonly bufferedMs: number;
    /** Played milliseconds of the agent's current item at the line's start, leading silence included. */
    readonly heardUntilMs: number;
  };
}

/** A sound without the wish to take the turn; a filler is one that the caller makes while it thinks. */
export interface SoundAct extends Scripted {
  readonly type: 'backchannel' | 'noise' | 'filler';
  readonly name: string;
  readonly afterMs: number | null;
  /** False when the agent's turn ended first; the sound was then left out. */
  readonly possible: boolean;
}

export interface PressAct extends Scripted {
  readonly type: 'press';
  readonly keys: string;
}

export type CallerAct = SayAct | SoundAct | PressAct;

/** One uninterrupted sound of the agent: gate on (60 ms) to gate off (200 ms of silence, not included). */
export interface AgentSound extends Span {
  /** Number of the caller's turn that it follows; 0 for the greeting. */
  readonly turn: number;
  /** When its first byte arrived, on the arrival clock. */
  readonly firstByteMs: number;
  /** Level of its active frames. */
  readonly dbfs: number;
  /** Present if it ended in active speech, without a decay. */
  readonly breaksOff?: boolean;
  /** Present if what is heard after it may be the agent's voice, more quietly. */
  readonly mayGoOn?: boolean;
  /** Beside background audio that comes and goes: the part that is certainly the agent's voice; null without one. */
  readonly certain?: Span | null;
}

export interface BackgroundFact {
  /** Its median level. */
  readonly dbfs: number;
  /** When it was first heard. */
  readonly fromMs: number;
  /** Whether it comes and goes, such as other voices or a keyboard: its edges are those of the agent's voice less often. */
  readonly isUneven: boolean;
}

export interface AgentTurnFact extends Span {
  readonly turn: number;
  /** Sum of its audible milliseconds. */
  readonly audibleMs: number;
  readonly endedBy: 'silence' | 'transport' | 'caller' | 'call_end';
}

/** What took the caller the time before its line. */
export const THINKING_REASONS = ['words', 'model', 'speech'] as const;
export type ThinkingReason = (typeof THINKING_REASONS)[number];

/** The caller's time, in no measure of the agent. It ends with the caller's act or the agent's onset. */
export interface ThinkingFact extends Span {
  /** Number of the caller's turn that it came before. */
  readonly turn: number;
  /** How often it had begun to think at this turn by then. */
  readonly attempts: number;
  /** What took the most time. */
  readonly reason: ThinkingReason;
}

export interface SaidFact {
  readonly atMs: number;
  readonly text: string;
  /** False for a part of words that a later report repeats in full. */
  readonly final: boolean;
  /** Present if they are the words of the whole item, whose audio had only begun to arrive. */
  readonly ahead?: true;
  /** Item of the agent's audio that they belong to, if the platform says so. */
  readonly item?: number;
  /** Their places in that audio, in milliseconds from its first sample, if the platform says so. */
  readonly words?: readonly SpokenWord[];
  /** The message that had them, if the platform has several. */
  readonly by?: string;
}

/** What a recogniser understood of the agent's audio. Plain data. */
export interface RecognisedFact {
  readonly model: string | null;
  /** What was transcribed, in order. */
  readonly pieces: readonly RecognisedPiece[];
  /** The same audio, cut in another way and transcribed a second time; absent if it was heard once. */
  readonly again?: readonly RecognisedPiece[];
}

/** A part of the agent's audio that was transcribed by itself; from its first to its last audible sample. */
export interface RecognisedPiece extends Span {
  /** Null: it was audible, and its words are not known. */
  readonly text: string | null;
  /** The words of the text with the recogniser's times; absent if it gave none. */
  readonly words?: readonly SpokenWord[];
  /** Present if more may have been said than its text. */
  readonly isPartial?: true;
  /** Present if the recogniser gave no answer. */
  readonly failure?: Failure;
}

export interface HeardCallerFact {
  readonly atMs: number;
  readonly text: string;
}

export interface ToolCallFact {
  readonly atMs: number;
  readonly name: string;
  /** Its arguments as the platform reported them; null if it keeps them to itself. */
  readonly json: string | null;
  /** What was reported of it, with its arguments in another form. */
  readonly reportedJson?: string;
  /** What the tester answered, or was reported; absent if neither. */
  readonly result?: JsonValue;
  readonly answeredMs?: number;
  readonly reported?: ToolCallEntry['reported'];
}

/** A message with audio: when it arrived and which span of the playout it became. */
export interface Arrival {
  readonly arrivedMs: number;
  readonly playedFromMs: number;
  readonly playedToMs: number;
  /** Where the platform tells its items apart. */
  readonly item?: number;
  /** Present if a part of it was dropped. */
  readonly isCut?: true;
  /** Its length as it arrived, if a part of an item was dropped. */
  readonly sentMs?: number;
}

export interface AgentLevel {
  /** Level of the active frames; null if nothing was heard. */
  readonly dbfs: number | null;
  /** Level of everything that was sent, active or not; null if nothing was sent. */
  readonly sentDbfs: number | null;
  /** Share of the samples in runs at full scale, 0 to 100. */
  readonly clippedPercent: number;
  /** When the first messages with such samples were played; absent without any. */
  readonly clippedAtMs?: readonly number[];
  /** Whether audio was sent and none of it was audible. */
  readonly inaudible: boolean;
}

export const FINDING_SEVERITIES = ['error', 'warning'] as const;
export type FindingSeverity = (typeof FINDING_SEVERITIES)[number];

/** A deviation from the platform's protocol. */
export interface WireFinding {
  readonly code: string;
  readonly severity: FindingSeverity;
  /** Null before the answer. */
  readonly atMs: number | null;
  readonly detail: string;
  /** The sentence of the platform's documentation, with its error number where there is one. */
  readonly source: string;
}

export interface PlatformEvent {
  readonly type: 'transfer' | 'hang_up' | 'note';
  readonly atMs: number;
  readonly detail: string;
}

/** How well the tester kept its own times. */
export interface MediaTiming {
  /** Absent if no frame was sent. */
  readonly frameLatenessMs?: { readonly p50: number; readonly p99: number; readonly worst: number };
  /** Spans in which the tester did nothing, because its thread was blocked. */
  readonly stalls: readonly { readonly at: number; readonly ms: number }[];
  /** Spans of which the line lost the agent's sound, so that nothing can be said of it there; absent where it loses nothing. */
  readonly lineGaps?: MediaTiming['stalls'];
  /** Whether all sound of the caller was sent as planned. */
  readonly sentAsPlanned: boolean;
}
