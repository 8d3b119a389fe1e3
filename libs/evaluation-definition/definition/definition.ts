import type { EventMatcher, OfKind, Placement, Times, ToolMatcher, TurnSelector, ValueSource } from './events.js';
import type { ScriptStep, Speaker, SpokenMatcher } from './script.js';
import type { LineConditions, SoundCheckSpec, UnderstoodSpec } from './voice.js';

export type * from './events.js';
export type * from './script.js';
export type * from './voice.js';

export const PERSONAL_DATA_KINDS = ['card', 'iban', 'email', 'phone'] as const;
export type PersonalDataKind = (typeof PERSONAL_DATA_KINDS)[number];

/** The ways in which each side can end a call. */
export const ENDED_BY = {
  agent: ['agent_hung_up'],
  caller: ['script_over', 'caller_done', 'no_answer', 'agent_silent'],
} as const;
export type EndedBy = (typeof ENDED_BY)[Speaker][number];

interface Judged {
  readonly weight: number;
  readonly required: boolean;
}

/** Counts only what the agent does from the end of the caller's nth words until it speaks again; 0: before its first. */
interface InTurn {
  readonly turn?: number;
}

/** What the script expects of one of its lines; set by `withExpectations`, never by users. */
export interface OfLine {
  /** Position of the step in the script. */
  readonly step?: number;
  /** Position of the answer in the step. */
  readonly answer?: number;
  /** Whether a caller that follows the script may leave the line out. */
  readonly isOptional?: true;
}

interface Named {
  readonly name?: string;
}

export type SaysSpec = { readonly type: 'says' | 'never_says'; readonly turn?: TurnSelector } & SpokenMatcher &
  Placement;
export type ToolSpec = { readonly type: 'calls_tool' | 'never_calls_tool' } & ToolMatcher &
  InTurn &
  Placement & {
    /** Of `never_calls_tool` with the tool `*`, any but these. */
    readonly except?: readonly string[];
  };
/** The agent passes the call on: by its platform, or with a tool. */
export interface TransfersSpec {
  readonly type: 'transfers';
  /** Telephone number, or another name of the target. */
  readonly to?: string;
  readonly after?: EventMatcher;
  /** Tools of the agent that transfer the call, beside those of the platforms. */
  readonly as?: readonly string[];
}
/** How many answers the agent gives in each turn; `min` is 0 by default. */
export type AnswersSpec = { readonly type: 'answers'; readonly times: Times } & InTurn;
export type EndsBySpec = {
  readonly type: 'ends_by';
  readonly by: Speaker;
  /** How the call ended, as in the result. */
  readonly code?: EndedBy;
  /** Milliseconds from the first goodbye of either side. */
  readonly withinMs?: number;
};
export type MaxTurnsSpec = { readonly type: 'max_turns'; readonly turns: number };
export type MaxLatencySpec = InTurn & {
  readonly type: 'max_latency_ms';
  readonly ms: number;
  /** 100 is the slowest response. */
  readonly percentile: 50 | 90 | 95 | 99 | 100;
};
export type MaxTimeSpec = {
  readonly type: 'max_duration_ms' | 'max_silence_ms' | 'max_time_to_first_word_ms' | 'max_pause_ms';
  readonly ms: number;
};
export type MaxAnswerWordsSpec = { readonly type: 'max_answer_words'; readonly words: number };
/** The agent's share of all words, 0 to 1. */
export type TalkRatioSpec = { readonly type: 'talk_ratio'; readonly min?: number; readonly max?: number };
/** A language as BCP 47; only its first part counts. */
export type LanguageSpec = { readonly type: 'language'; readonly language: string } & InTurn &
  Pick<Placement, 'after' | 'before'>;
export type SpeakableSpec = {
  readonly type: 'speakable';
  readonly maxDigits?: number;
  readonly allow?: readonly string[];
};
export type NoPersonalDataSpec = {
  readonly type: 'no_personal_data';
  readonly speaker: Speaker;
  /** By default all kinds. */
  readonly kinds?: readonly PersonalDataKind[];
  readonly allow?: readonly string[];
};
export type SameValueSpec = { readonly type: 'same_value'; readonly sources: readonly ValueSource[] } & OfKind;
export type SaysBeforeSpec = {
  readonly type: 'says_before';
  readonly first: SpokenMatcher;
  readonly then: SpokenMatcher;
};
/** The first time that each event happens; an event that is listed twice must happen twice. */
export type InOrderSpec = { readonly type: 'in_order'; readonly events: readonly EventMatcher[] };
/** A statement that the judge decides, as a check: alone or inside another one. */
export type CriterionSpec = { readonly type: 'criterion'; readonly criterion: string } & InTurn;
export type ListSpec = { readonly type: 'any_of' | 'all_of'; readonly checks: readonly NestedCheck[] };
export type NotSpec = { readonly type: 'not'; readonly check: NestedCheck };
export type WhenSpec = { readonly type: 'when'; readonly if: NestedCheck; readonly then: NestedCheck };

/** The fields of a check that are its own. */
export type CheckSpec =
  | SaysSpec
  | ToolSpec
  | AnswersSpec
  | TransfersSpec
  | EndsBySpec
  | MaxTurnsSpec
  | MaxLatencySpec
  | MaxTimeSpec
  | MaxAnswerWordsSpec
  | TalkRatioSpec
  | LanguageSpec
  | SpeakableSpec
  | NoPersonalDataSpec
  | SameValueSpec
  | SaysBeforeSpec
  | InOrderSpec
  | CriterionSpec
  | ListSpec
  | NotSpec
  | WhenSpec
  | SoundCheckSpec
  | UnderstoodSpec;

/** A check inside another one, which alone counts for the score. */
export type NestedCheck = Named & CheckSpec;

/** A condition on the timeline of a call: deterministic unless a criterion is in it. */
export type Check = Named & Judged & OfLine & CheckSpec;
export type CheckType = Check['type'];

/** A statement that a judge decides. */
export interface Criterion extends Judged, InTurn {
  readonly text: string;
}

export type VariableValue = string | number | boolean;

/** Values of the variables of one case, by name. */
export type VariablesRow = Readonly<Record<string, VariableValue>>;

/** What was said or done before the call begins. */
export type HistoryLine =
  | { readonly caller: string }
  | { readonly agent: string }
  | {
      readonly tool: string;
      readonly arguments?: Readonly<Record<string, unknown>>;
      /** Any JSON value; `{"status":"ok"}` by default. */
      readonly result?: unknown;
    };

/** What the tester returns for calls of a tool: exactly one of `result`, `results`, `error` and `noAnswer`. */
export interface ToolResult {
  readonly tool: string;
  /** Applies only to calls with these arguments; further arguments are ignored. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** Applies only to calls whose arguments fit this JSON Schema. */
  readonly argumentsSchema?: Readonly<Record<string, unknown>>;
  /** Applies only to calls with these arguments in any form that `same_value` knows; further arguments are ignored. */
  readonly same?: Readonly<Record<string, unknown>>;
  /** Any JSON value. */
  readonly result?: unknown;
  /** One for each call, in order. */
  readonly results?: readonly unknown[];
  /** What the tool says when it fails. */
  readonly error?: string;
  /** The tool never answers. */
  readonly noAnswer?: true;
  /** How many calls get it; any number by default. */
  readonly times?: number;
  /** How long the tool takes, in milliseconds. */
  readonly delayMs?: number;
}

/** Script, checks, criteria and limits of an evaluation, with all defaults filled in. */
export interface EvaluationDefinition {
  /** Empty if a language model plays the caller. */
  readonly script: readonly ScriptStep[];
  readonly checks: readonly Check[];
  readonly criteria: readonly Criterion[];
  /** The agent gets it as the conversation so far. */
  readonly history: readonly HistoryLine[];
  /** The first entry that fits a call and is not used up applies. */
  readonly toolResults: readonly ToolResult[];
  /** A turn is one exchange: the caller speaks, the agent responds. */
  readonly maxTurns: number;
  readonly maxDurationSeconds: number;
  /** Of voice calls; an empty object for a good line. */
  readonly conditions: LineConditions;
  /** Heard silence that ends a turn of the agent, in milliseconds; only voice calls use it. */
  readonly turnEndMs: number;
  /** Whether a caller without a script says "um" when it thinks for long on a voice call. */
  readonly fillers: boolean;
  /** Dynamic variables for the agent's platform, above those of its connection and below those of the run. */
  readonly agentVariables: VariablesRow;
}

/** A definition whose invalid parts are undefined; the others are still validated, so that all violations are reported at once. */
export interface PartialDefinition {
  readonly script: readonly (ScriptStep | undefined)[];
  readonly checks: readonly (Check | undefined)[];
  readonly criteria: readonly (Criterion | undefined)[];
  readonly maxTurns: number | undefined;
  readonly maxDurationSeconds: number | undefined;
  readonly fillers: boolean | undefined;
}

/** The editable fields of an evaluation. */
export interface AuthoredEvaluation extends EvaluationDefinition {
  readonly key: string | null;
  readonly name: string;
  readonly scenarioText: string;
  readonly generalInstructions: string;
  readonly personalityId: string;
  readonly vendorCallPhoneNumber: string;
  readonly critical: boolean;
  readonly tags: readonly string[];
  /** BCP 47; null for the agent's. */
  readonly language: string | null;
  /** IANA; null for that of the language's main country. */
  readonly timezone: string | null;
  /** One object per case, all with the same names; empty for a single case without variables. */
  readonly variables: readonly VariablesRow[];
  /** Whose calls it judges. */
  readonly scope: Scope;
  /** Decides which production calls it judges; null for all. */
  readonly appliesTo: NestedCheck | null;
}

export const SCOPES = ['tests', 'production', 'both'] as const;
export type Scope = (typeof SCOPES)[number];

/** An evaluation in a request or file: fields with defaults are optional. */
export type EvaluationInput = Pick<AuthoredEvaluation, 'name' | 'scenarioText' | 'personalityId'> &
  Partial<Omit<AuthoredEvaluation, keyof EvaluationDefinition | 'appliesTo'>> &
  DefinitionInput & { readonly appliesTo?: Input<NestedCheck> | null };

/** An evaluation in a file: it names its personality by exactly one of `personality` and `personalityId`. */
export type FileEvaluationInput = Omit<EvaluationInput, 'key' | 'personalityId'> & {
  readonly key: string;
  readonly personality?: string;
  readonly personalityId?: string;
};

/** A definition that is valid according to the schema, without its defaults. */
export interface DefinitionInput {
  readonly script?: readonly ScriptStep[];
  readonly checks?: readonly CheckInput[];
  /** A plain text is a criterion with the defaults. */
  readonly criteria?: readonly (CriterionInput | string)[];
  readonly history?: readonly HistoryLine[];
  readonly toolResults?: readonly ToolResult[];
  readonly maxTurns?: number;
  readonly maxDurationSeconds?: number;
  readonly conditions?: LineConditions;
  readonly turnEndMs?: number;
  readonly fillers?: boolean;
  readonly agentVariables?: VariablesRow;
}

/** Fields that are optional in a request or file, because they have defaults. */
type Defaulted = 'weight' | 'required' | 'percentile' | 'speaker' | 'occurrence';
type Input<T> = T extends readonly (infer Item)[]
  ? readonly Input<Item>[]
  : T extends object
    ? { [K in keyof T as K extends Defaulted ? never : K]: Input<T[K]> } & {
        [K in keyof T as K extends Defaulted ? K : never]?: T[K];
      }
    : T;
export type CheckInput = Input<Check>;
export type CriterionInput = Input<Criterion>;
