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

/** A pause inside a line: the caller hesitates and keeps its turn. */
export interface Hesitation {
  readonly pauseMs: number;
}

/** What the caller says in one turn: a text, or texts with hesitations between them. */
export type SpokenLine = string | readonly (string | Hesitation)[];

/** The words of a line without its hesitations. */
export const lineText = (line: SpokenLine): string =>
  typeof line === 'string' ? line : line.filter((part) => typeof part === 'string').join(' ');

/** A line that the caller says whenever the agent asks for it. */
export interface ScriptAnswer extends Expecting {
  readonly when: Condition;
  readonly say: SpokenLine;
}

/** A line, or a step with lines. */
interface Expecting {
  /** Checks (`CheckInput`) of what the agent does after it, until the caller speaks again; each time that it is said. */
  readonly expect?: readonly object[];
}

/** Says one line and waits for the response. */
export interface SayStep extends Expecting {
  readonly when?: Condition;
  /** The words of the agent that the line answers: it is said to these, even if the lines before it have not been said. */
  readonly to?: Condition;
  readonly say: SpokenLine;
  /** Says the line over the agent's response to the `say` before it. */
  readonly bargeIn?: BargeIn;
}

export interface BargeIn {
  /** Audible milliseconds of the agent's turn before the caller begins to speak. */
  readonly afterMs: number;
}

/**
 * Answers the agent's questions in any order: in every turn the caller says all answers whose condition holds, in the
 * order of the list. With `until` the step continues until that condition holds, and the caller says `otherwise` if no
 * answer matches; without `until` it ends at the first turn without a matching answer. The turn that ends it belongs to
 * the next step.
 */
export interface AnswersStep extends Expecting {
  readonly when?: Condition;
  readonly answers: readonly ScriptAnswer[];
  readonly until?: Condition;
  readonly otherwise?: string;
}

/** The sounds by which a caller shows that it listens. */
export const BACKCHANNELS = ['mm-hmm', 'uh-huh', 'yeah'] as const;
export type Backchannel = (typeof BACKCHANNELS)[number];

/** Shows that the caller listens, while the agent speaks. */
export interface BackchannelStep {
  readonly when?: undefined;
  readonly backchannel: Backchannel;
  /** Audible milliseconds of the agent's turn before the sound. */
  readonly afterMs: number;
}

export const NOISES = ['cough', 'door'] as const;
export type Noise = (typeof NOISES)[number];

/** A noise on the caller's side. */
export interface NoiseStep {
  readonly when?: Condition;
  readonly noise: Noise;
  /** Audible milliseconds of the agent's turn before the noise; absent for the silence after the agent's turn. */
  readonly afterMs?: number;
}

/** Presses keys of the telephone. */
export interface PressStep {
  readonly when?: Condition;
  /** `0` to `9`, `*`, `#` and `A` to `D`; `w` waits for half a second. */
  readonly press: string;
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
  /** What the agent must not do for the caller to hang up: the script has no answer to it, so the call is invalid. */
  readonly unless?: EndsUnless;
}

export const ENDS_UNLESS = ['asked', 'answered'] as const;
export type EndsUnless = (typeof ENDS_UNLESS)[number];

/** One action of a scripted caller. A step whose condition does not hold is skipped. */
export type ScriptStep = SayStep | AnswersStep | BackchannelStep | NoiseStep | PressStep | WaitStep | EndStep;

/** Milliseconds of the agent's turn after which a step begins; undefined for a step at the caller's own turn. */
export function startsDuringTurnAfter(step: ScriptStep): number | undefined {
  if ('say' in step) return step.bargeIn?.afterMs;
  return 'afterMs' in step ? step.afterMs : undefined;
}

/**
 * Maximum number of turns of a call with this script.
 * @returns undefined when nothing but `maxTurns` limits them
 */
export function mostTurns(script: readonly (ScriptStep | undefined)[]): number | undefined {
  if (script.length === 0 || script.some((step) => !step || 'answers' in step)) return undefined;
  // A line that answers words of the agent may be said twice: in its place, and to these words.
  return script.reduce((sum, step) => sum + (step && 'say' in step ? (step.to ? 2 : 1) : 0), 0);
}

/** The lines that the caller may say in a step. */
export function linesOf(step: ScriptStep): SpokenLine[] {
  if ('say' in step) return [step.say];
  if (!('answers' in step)) return [];
  return [...step.answers.map(({ say }) => say), ...(step.otherwise === undefined ? [] : [step.otherwise])];
}
