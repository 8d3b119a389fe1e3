import type { LineConditions, ToolResult } from '../../../evaluation-definition/index.js';
import type { LineRate } from '../../../audio/index.js';
import type { ScriptSource } from '../../timeline/timeline.js';
import type { SpokenWord } from './facts.js';

export type { LineConditions };

/** A sound of the caller, ready to be sent: 16-bit mono at the rate of the line, trimmed, speech at -26 dBFS active level. */
export interface PreparedSound {
  readonly pcm: Int16Array;
  /** First sample above -45 dBFS, and the one after the last, of the clean sound. */
  readonly speechStart: number;
  readonly speechEnd: number;
  /** Times in milliseconds from the sound's first sample. */
  readonly words: readonly SpokenWord[];
}

/** A short text that is ready to be said. */
export interface SpokenText {
  readonly text: string;
  readonly sound: PreparedSound;
}

/** A step of the script whose sounds are ready. `step` is its position in the script; null without a script. */
export type PreparedStep =
  | {
      readonly type: 'say';
      readonly step: number | null;
      /** Which answers of the step it is. */
      readonly source?: Pick<ScriptSource, 'answers' | 'otherwise'>;
      /** The whole line, without its pauses. */
      readonly text: string;
      readonly parts: readonly (PreparedSound | { readonly pauseMs: number })[];
      readonly bargeIn?: { readonly afterMs: number };
      /** Whether the caller of its own accord interrupts the agent with it, and then is asked how it goes on. */
      readonly interrupts?: true;
      /** Whether more of the line follows (`LineRest`), which is not ready yet. */
      readonly hasRest?: true;
    }
  | {
      readonly type: 'backchannel' | 'noise';
      readonly step: number;
      readonly name: string;
      readonly sound: PreparedSound;
      /** Absent for a noise in the silence after the agent's turn. */
      readonly afterMs?: number;
    }
  | { readonly type: 'press'; readonly step: number; readonly keys: string }
  | { readonly type: 'wait'; readonly step: number; readonly ms: number }
  /** @property code `caller_done` by default */
  | {
      readonly type: 'end';
      readonly step: number | null;
      readonly reason: string;
      readonly code?: 'no_answer' | 'agent_repeats';
    };

/** The next sentence of a line that has begun. */
export interface LineRest {
  readonly text: string;
  readonly sound: PreparedSound;
  /** Whether more follows. */
  readonly hasRest: boolean;
}

/** What a voice call needs to run; complete before time 0, but for what the caller is asked at its turns. */
export interface VoiceCallPlan {
  readonly rate: LineRate;
  readonly script: readonly PreparedStep[];
  /** Present if the caller is asked what it does after these steps. */
  readonly asked?: {
    /** Whether it is also asked when the agent does not answer its line, instead of saying it again. */
    readonly inSilence: boolean;
  };
  readonly firstSpeaker: 'agent' | 'caller' | null;
  /** Heard silence that ends the agent's turn. */
  readonly turnEndMs: number;
  /** Silence after the caller's words that it accepts before it repeats its line. */
  readonly patienceMs: number;
  readonly maxTurns: number;
  readonly maxDurationSeconds: number;
  readonly conditions: LineConditions;
  /** Overlaid synthetic voices, looped, where conditions or personality ask for babble. */
  readonly babble?: Int16Array;
  /** Whether a bed of babble lies 15 dB under the caller's speech (personality's `backgroundNoise`). */
  readonly backgroundNoise: boolean;
  readonly seed: number;
  /** What the caller says when it thinks for long, such as "um"; none without them. */
  readonly fillers?: readonly SpokenText[];
  /** What the caller says when it interrupts the agent, which it then does now and then; it never does without them. */
  readonly interruptions?: readonly SpokenText[];
  /** What the tester answers when the agent waits for a tool. */
  readonly toolResults?: readonly ToolResult[];
  /**
   * For a connection test: the caller says nothing and hangs up this long after the first audible sound, or when the platform
   * reports the agent's first words.
   */
  readonly listenMs?: number;
}
