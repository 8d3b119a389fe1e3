/** A side of the conversation. */
export type Speaker = 'agent' | 'caller';

/** Matches whole words, or with `partOfWord` parts of them too, after normalisation (`normaliseText`). */
export interface TextMatcher {
  readonly text: string;
  readonly partOfWord?: boolean;
}

/** Matches a text: either words or an RE2 regular expression. */
export type Matcher = TextMatcher | { readonly pattern: string };

export type SpokenMatcher = Matcher & { readonly speaker: Speaker };

/** A condition on the agent's last response; if both are given, both must hold. */
export interface Condition {
  readonly says?: Matcher;
  readonly notSays?: Matcher;
}

/** A line that the caller says whenever the agent asks for it. */
export interface ScriptAnswer {
  readonly when: Condition;
  readonly say: string;
}

/** Says one line and waits for the response. */
export interface SayStep {
  readonly when?: Condition;
  readonly say: string;
}

/**
 * Answers the agent's questions in any order: in every turn the caller says all answers whose condition holds, in the
 * order of the list. With `until` the step continues until that condition holds, and the caller says `otherwise` if no
 * answer matches; without `until` it ends at the first turn without a matching answer. The turn that ends it belongs to
 * the next step.
 */
export interface AnswersStep {
  readonly when?: Condition;
  readonly answers: readonly ScriptAnswer[];
  readonly until?: Condition;
  readonly otherwise?: string;
}

/** Stays silent. */
export interface WaitStep {
  readonly when?: Condition;
  readonly waitSeconds: number;
}

/** Ends the call, with a reason for the reader of the result. */
export interface EndStep {
  readonly when?: Condition;
  readonly end: string;
}

/** One action of a scripted caller. A step whose condition does not hold is skipped. */
export type ScriptStep = SayStep | AnswersStep | WaitStep | EndStep;

/** A call of a tool by the agent. */
export interface ToolMatcher {
  readonly tool: string;
  /** Each given argument must be present with the same value. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** A JSON Schema that the arguments must fit. */
  readonly argumentsSchema?: Readonly<Record<string, unknown>>;
}

/** Something that happens on a call: words of one side, or a tool call. */
export type EventMatcher = SpokenMatcher | ToolMatcher;

/** How often something happens. */
export interface Times {
  readonly min?: number;
  readonly max?: number;
}

/** Where on the timeline something has to happen. `after` and `before` refer to the first time that the event happens. */
export interface Placement {
  readonly after?: EventMatcher;
  readonly before?: EventMatcher;
  readonly times?: Times;
}

/** 0 is the agent's greeting; turn n are the caller's nth words and the answer to them. */
export type TurnSelector = number | 'first' | 'last';

/** Which of several occurrences has the value that counts. */
export type ValueOccurrence = 'first' | 'last';

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

interface Named {
  readonly name?: string;
}

export type SaysSpec = { readonly type: 'says' | 'never_says'; readonly turn?: TurnSelector } & SpokenMatcher &
  Placement;
export type ToolSpec = { readonly type: 'calls_tool' | 'never_calls_tool' } & ToolMatcher & Placement;
export type EndsBySpec = {
  readonly type: 'ends_by';
  readonly by: Speaker;
  /** How the call ended, as in the result. */
  readonly code?: EndedBy;
  /** Milliseconds from the first goodbye of either side. */
  readonly withinMs?: number;
};
export type MaxTurnsSpec = { readonly type: 'max_turns'; readonly turns: number };
export type MaxLatencySpec = {
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
export type LanguageSpec = { readonly type: 'language'; readonly language: string };
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
/** A value that a named group of a pattern finds in the words of one side. */
export interface SpokenValue {
  readonly pattern: string;
  readonly speaker: Speaker;
  /** May be left out if the pattern has only one. */
  readonly group?: string;
  readonly occurrence: ValueOccurrence;
}
/** A value in the arguments or in the result of a tool call. */
export interface ToolValue {
  readonly tool: string;
  /** Path such as `guest.name` or `items[0].price`. */
  readonly argument?: string;
  readonly result?: string;
  readonly occurrence: ValueOccurrence;
}
export interface FixedValue {
  readonly value: string | number | boolean;
}
export type ValueSource = SpokenValue | ToolValue | FixedValue;
export type SameValueSpec = { readonly type: 'same_value'; readonly sources: readonly ValueSource[] };
export type SaysBeforeSpec = {
  readonly type: 'says_before';
  readonly first: SpokenMatcher;
  readonly then: SpokenMatcher;
};
/** The first time that each event happens; an event that is listed twice must happen twice. */
export type InOrderSpec = { readonly type: 'in_order'; readonly events: readonly EventMatcher[] };
export type ListSpec = { readonly type: 'any_of' | 'all_of'; readonly checks: readonly NestedCheck[] };
export type NotSpec = { readonly type: 'not'; readonly check: NestedCheck };
export type WhenSpec = { readonly type: 'when'; readonly if: NestedCheck; readonly then: NestedCheck };

/** The fields of a check that are its own. */
export type CheckSpec =
  | SaysSpec
  | ToolSpec
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
  | ListSpec
  | NotSpec
  | WhenSpec;

/** A check inside another one, which alone counts for the score. */
export type NestedCheck = Named & CheckSpec;

/** A deterministic condition on the timeline of a call. */
export type Check = Named & Judged & CheckSpec;
export type CheckType = Check['type'];

/** A statement that a judge decides. */
export interface Criterion extends Judged {
  readonly text: string;
}

export type VariableValue = string | number | boolean;

/** Values of the variables of one case, by name. */
export type VariablesRow = Readonly<Record<string, VariableValue>>;

/** Result that the tester returns for a call of a tool. */
export interface ToolResult {
  readonly tool: string;
  /** Applies only to calls with these arguments; further arguments are ignored. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** Any JSON value. */
  readonly result: unknown;
}

/** Script, checks, criteria and limits of an evaluation, with all defaults filled in. */
export interface EvaluationDefinition {
  /** Empty if a language model plays the caller. */
  readonly script: readonly ScriptStep[];
  readonly checks: readonly Check[];
  readonly criteria: readonly Criterion[];
  /** The first entry that fits a call applies. */
  readonly toolResults: readonly ToolResult[];
  /** A turn is one exchange: the caller speaks, the agent responds. */
  readonly maxTurns: number;
  readonly maxDurationSeconds: number;
}

/** A definition whose invalid parts are undefined; the others are still validated, so that all violations are reported at once. */
export interface PartialDefinition {
  readonly script: readonly (ScriptStep | undefined)[];
  readonly checks: readonly (Check | undefined)[];
  readonly criteria: readonly (Criterion | undefined)[];
  readonly maxTurns: number | undefined;
  readonly maxDurationSeconds: number | undefined;
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
  /** One object per case, all with the same names; empty for a single case without variables. */
  readonly variables: readonly VariablesRow[];
}

/** An evaluation in a request or file: fields with defaults are optional. */
export type EvaluationInput = Pick<AuthoredEvaluation, 'name' | 'scenarioText' | 'personalityId'> &
  Partial<Omit<AuthoredEvaluation, keyof EvaluationDefinition>> &
  DefinitionInput;

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
  readonly criteria?: readonly CriterionInput[];
  readonly toolResults?: readonly ToolResult[];
  readonly maxTurns?: number;
  readonly maxDurationSeconds?: number;
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
