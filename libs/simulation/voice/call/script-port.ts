import { type Failure, failure } from '../../timeline/failure.js';
import type { ThinkingFact, ThinkingReason } from '../facts/facts.js';
import type { LineRest, PreparedStep, VoiceCallPlan } from '../facts/plan.js';
import { OpenLine } from './open-line.js';
import type { AgentUtterance, TurnAnswer, TurnQuestion } from '../facts/turn-question.js';

/** After this many attempts, the caller speaks its last answer as soon as the agent is silent for `SILENCE_MS`. */
const MAX_ATTEMPTS = 5;
const SILENCE_MS = 1_000;
/** Maximum time of all attempts of a turn together. */
const MAX_THINKING_MS = 30_000;
/** Growth of the thinking time between two questions for new words: each question sends all words of the turn. */
const ASKED_AGAIN_SHARE = 0.25;

/** Access to the caller that is asked. */
export interface CallerPort {
  /** Answered by `ScriptPort.answer`. */
  ask(question: TurnQuestion): void;
  /** The agent's utterances since the caller's line; after an interruption, since the line before. */
  utterances(untilMs: number, hasInterrupted: boolean): readonly AgentUtterance[];
  /** Increases when words of the agent arrive. */
  wordReports(): number;
  /** When the tester returns the latest result of a tool that it holds back; 0 if there was none. */
  resultsDueMs(): number;
}

/** Outcome of the present question; undefined while the caller thinks. */
export type Decision = 'decided' | { readonly failure: Failure } | { readonly unusable: string } | undefined;

/** The caller's next steps: the prepared ones, then its answers to questions. */
export class ScriptPort {
  /** The line whose sentences arrive one by one. */
  readonly line = new OpenLine();
  private readonly thoughts: ThinkingFact[] = [];
  private readonly steps: PreparedStep[];
  private isComplete: boolean;
  private position = 0;
  /** The latest question, and how many reports of words it includes. */
  private question: TurnQuestion | undefined;
  private reports = 0;
  /** Earliest time of the next question. */
  private askAgainMs = 0;
  /** The answer to the latest question. */
  private answered: TurnAnswer | undefined;
  /** Number of the turn in question, number of its attempts, and how long the caller has thought about it. */
  private turn = 1;
  private attempts = 0;
  private spentMs = 0;
  /** When the caller began to think. */
  private sinceMs: number | undefined;
  /** Whether all attempts are used: the latest answer is then held back until the agent has been silent for `SILENCE_MS`. */
  private isHeldBack = false;

  constructor(
    private readonly plan: Pick<VoiceCallPlan, 'script' | 'asked'>,
    private readonly caller: CallerPort,
  ) {
    this.steps = [...plan.script];
    this.isComplete = plan.asked === undefined;
  }

  /** Peeks at the next step. `asked`: the caller must be asked; undefined: it has nothing more to do. */
  next(): PreparedStep | 'asked' | undefined {
    return this.steps[this.position] ?? (this.isComplete ? undefined : 'asked');
  }

  /** Passes the next step. */
  take(): void {
    this.position++;
  }

  get isThinking(): boolean {
    return this.sinceMs !== undefined;
  }

  /** Infinity if the caller does not think. */
  get thinkingSinceMs(): number {
    return this.sinceMs ?? Infinity;
  }

  /** Whether the caller is asked when the agent does not answer its line. */
  get decidesInSilence(): boolean {
    return this.plan.asked?.inSilence === true && this.next() === 'asked';
  }

  ask(sinceMs: number, about: Pick<TurnQuestion, 'isSilent' | 'interruption'>): void {
    this.sinceMs = sinceMs;
    this.isHeldBack = this.attempts === MAX_ATTEMPTS;
    if (this.isHeldBack) return;
    this.attempts++;
    this.answered = undefined;
    this.askAgainMs = 0;
    this.line.forget();
    const spoken = this.line.dropped;
    const of = { turn: this.turn, attempt: this.attempts, ...about, ...(spoken !== undefined && { spoken }) };
    this.post({ ...of, utterances: this.utterances(of, sinceMs) });
  }

  /** Receives an answer to the latest question: the first one decides, later ones are the next sentences of its line. */
  answer(answer: TurnAnswer): void {
    const isLatest = answer.turn === this.question?.turn && answer.attempt === this.question.attempt;
    if (!isLatest) return;
    if (!this.answered) this.answered = answer;
    else if ('steps' in this.answered) this.line.receive(answer);
  }

  /** The caller waits for the rest of its line. @param sinceMs end of the spoken part */
  awaitRest(sinceMs: number): void {
    this.sinceMs = sinceMs;
    this.isHeldBack = false;
    this.line.isAwaited = true;
  }

  /** The agent speaks before the caller has acted. @param turn the caller's next turn @param onsetMs when the agent began */
  interrupt(turn: number, onsetMs: number): void {
    if (this.sinceMs === undefined) return;
    const attempts = Math.max(1, this.attempts);
    const reason = this.line.isAwaited ? 'speech' : (this.answered?.reason ?? this.supposedReason());
    this.line.isAwaited = false;
    if (onsetMs > this.sinceMs) {
      this.thoughts.push({ turn, startMs: this.sinceMs, endMs: onsetMs, attempts, reason });
      this.spentMs += onsetMs - this.sinceMs;
    }
    this.sinceMs = undefined;
  }

  /**
   * Whether the caller has decided. If so, its steps come next.
   * @param atMs when it can act @param silentSinceMs end of the agent's latest sound
   */
  decide(turn: number, atMs: number, silentSinceMs: number): Decision {
    if (this.sinceMs === undefined) return undefined;
    if (this.line.isAwaited) return this.decideRest(turn, atMs);
    const { answered } = this;
    if (!answered) {
      if (this.spentMs + atMs - this.sinceMs >= MAX_THINKING_MS) {
        this.interrupt(turn, atMs);
        return { failure: failure('caller_slow', `it thought for ${MAX_THINKING_MS / 1_000} s about one turn`) };
      }
      this.tellWords(atMs);
      return undefined;
    }
    if (this.isHeldBack && atMs < silentSinceMs + SILENCE_MS) return undefined;
    this.interrupt(turn, atMs);
    if ('rest' in answered) return undefined;
    if (!('steps' in answered)) return answered;
    this.steps.push(...answered.steps);
    this.isComplete = answered.isComplete;
    this.turn++;
    this.attempts = 0;
    this.spentMs = 0;
    return 'decided';
  }

  private decideRest(turn: number, atMs: number): Decision {
    const rest = this.line.take();
    if (!rest) {
      if (atMs - this.sinceMs! < MAX_THINKING_MS) return undefined;
      this.interrupt(turn, atMs);
      return { failure: failure('caller_slow', `${MAX_THINKING_MS / 1_000} s after the beginning of its line`) };
    }
    this.interrupt(turn, atMs);
    if ('failure' in rest) return rest;
    this.spentMs = 0;
    this.steps.splice(this.position, 0, stepOf(rest));
    return 'decided';
  }

  /** Spans in which the caller thought, until the end of the call. */
  thoughtUntil(turn: number, callEndMs: number): readonly ThinkingFact[] {
    this.interrupt(turn, callEndMs);
    return this.thoughts;
  }

  private post(question: TurnQuestion): void {
    this.question = question;
    this.reports = this.caller.wordReports();
    this.caller.ask(question);
  }

  /** Asks again if words have arrived since the latest question. */
  private tellWords(atMs: number): void {
    const { question } = this;
    if (!question || !lacksWords(question) || this.caller.wordReports() === this.reports) return;
    if (atMs < this.askAgainMs) return;
    this.askAgainMs = atMs + ASKED_AGAIN_SHARE * (atMs - this.sinceMs!);
    this.post({ ...question, utterances: this.utterances(question, atMs) });
  }

  private utterances({ interruption }: Pick<TurnQuestion, 'interruption'>, untilMs: number): readonly AgentUtterance[] {
    return this.caller.utterances(untilMs, interruption !== undefined);
  }

  private supposedReason(): ThinkingReason {
    if (this.question && lacksWords(this.question)) return 'words';
    return this.plan.asked?.inSilence ? 'model' : 'words';
  }
}

const stepOf = ({ text, sound, hasRest }: LineRest): PreparedStep => ({
  type: 'say',
  step: null,
  text,
  parts: [sound],
  ...(hasRest && { hasRest }),
});

/** Whether a question must wait for words. */
export const lacksWords = ({ utterances }: TurnQuestion): boolean => utterances.some(({ text }) => text === null);
