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

interface Judged {
  readonly weight: number;
  readonly required: boolean;
}

interface CheckBase extends Judged {
  readonly name?: string;
}

export type SaysCheck = CheckBase & { readonly type: 'says' | 'never_says' } & SpokenMatcher;
export type ToolCheck = CheckBase & {
  readonly type: 'calls_tool' | 'never_calls_tool';
  readonly tool: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
};
export type EndsByCheck = CheckBase & { readonly type: 'ends_by'; readonly by: Speaker };
export type MaxTurnsCheck = CheckBase & { readonly type: 'max_turns'; readonly turns: number };
export type MaxDurationCheck = CheckBase & { readonly type: 'max_duration_ms'; readonly ms: number };
export type MaxLatencyCheck = CheckBase & {
  readonly type: 'max_latency_ms';
  readonly ms: number;
  /** 100 is the slowest response. */
  readonly percentile: 50 | 90 | 95 | 99 | 100;
};
export type MaxSilenceCheck = CheckBase & { readonly type: 'max_silence_ms'; readonly ms: number };
export type SaysBeforeCheck = CheckBase & {
  readonly type: 'says_before';
  readonly first: SpokenMatcher;
  readonly then: SpokenMatcher;
};

/** A deterministic condition on the timeline of a call. */
export type Check =
  | SaysCheck
  | ToolCheck
  | EndsByCheck
  | MaxTurnsCheck
  | MaxDurationCheck
  | MaxLatencyCheck
  | MaxSilenceCheck
  | SaysBeforeCheck;
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
  readonly maxTurns?: number;
  readonly maxDurationSeconds?: number;
}

type WithDefaults<T, K extends PropertyKey> = T extends unknown
  ? Omit<T, K & keyof T> & Partial<Pick<T, K & keyof T>>
  : never;
export type SpokenMatcherInput = Matcher & { readonly speaker?: Speaker };
export type CheckInput =
  | (Partial<CheckBase> & { readonly type: 'says' | 'never_says' } & SpokenMatcherInput)
  | (Partial<CheckBase> & {
      readonly type: 'says_before';
      readonly first: SpokenMatcherInput;
      readonly then: SpokenMatcherInput;
    })
  | WithDefaults<Exclude<Check, SaysCheck | SaysBeforeCheck>, 'weight' | 'required' | 'percentile'>;
export type CriterionInput = WithDefaults<Criterion, 'weight' | 'required'>;
