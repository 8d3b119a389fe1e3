import { type AgentReply, type Caller, CallerUnusable } from '../../callers/caller.js';
import type { Clock } from '../../time/clock.js';
import { CallFailure, type Failure, failure, failureOf } from '../../timeline/failure.js';
import type { ThinkingReason } from '../facts/facts.js';
import type { AgentUtterance, TurnAnswer, TurnQuestion } from '../facts/turn-question.js';
import type { PreparedSound } from '../facts/plan.js';
import type { PreparedSteps } from '../speaking/prepare.js';

/** How long one attempt waits for words of the agent, and then for the decision of the caller. */
const WORDS_MS = 3_000;
const DECISION_MS = 10_000;

export interface AnsweringCallerOptions {
  readonly caller: Caller;
  /** The known steps from an action on, with their sounds. */
  readonly prepare: (action: Awaited<ReturnType<Caller['next']>>, signal: AbortSignal) => Promise<PreparedSteps>;
  /** The sound of a sentence. */
  readonly speak: (text: string, signal: AbortSignal) => Promise<PreparedSound>;
  /** Name of the speech engine, for failures. */
  readonly engine?: string | undefined;
  /** Fills in the words that a recogniser knows so far, and says why others will stay unknown. */
  readonly heard?: (utterances: readonly AgentUtterance[]) => {
    readonly utterances: readonly AgentUtterance[];
    readonly failure?: Failure;
  };
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

type Answer = (answer: TurnAnswer) => void;

/** Answers the questions of a voice call: waits for the agent's words, asks the caller and prepares the audio. */
export class AnsweringCaller {
  private attempt: Attempt | undefined;
  /** The agent's words in the latest turn. */
  private heard = '';
  private working: Promise<void> = Promise.resolve();

  constructor(private readonly options: AnsweringCallerOptions) {}

  /** Called when a recogniser knows more words. */
  readonly wordsArrived = (): void => this.attempt?.wordsArrived();

  /** The same attempt, asked again, has more words; a new attempt replaces the previous one. */
  readonly ask = (question: TurnQuestion, answer: Answer): void => {
    const { attempt: present } = this;
    if (present?.turn === question.turn && present.attempt === question.attempt) return present.tell(question);
    present?.abandon();
    const attempt = new Attempt(question, this.options);
    this.attempt = attempt;
    const before = this.working;
    this.working = before.then(async () => {
      if (present?.turn === question.turn && present.wasAsked) this.options.caller.retract();
      else if (present && present.turn !== question.turn) this.heard = present.words || this.heard;
      await attempt.run(this.heard, answer);
    });
  };
}

/** One attempt of the caller to decide what it does. */
class Attempt {
  readonly turn: number;
  readonly attempt: number;
  /** Whether the caller was asked; if so, its decision is retracted when the attempt is abandoned. */
  wasAsked = false;
  /** Whether another attempt has replaced this one. */
  private isAbandoned = false;
  private readonly abort = new AbortController();
  /** Milliseconds by reason. */
  private readonly spent: Record<ThinkingReason, number> = { words: 0, model: 0, speech: 0 };
  private onWords: () => void = () => undefined;

  constructor(
    private question: TurnQuestion,
    private readonly options: AnsweringCallerOptions,
  ) {
    this.turn = question.turn;
    this.attempt = question.attempt;
  }

  /** What the agent said in this turn. */
  get words(): string {
    return wordsOf(this.heard.utterances);
  }

  tell(question: TurnQuestion): void {
    this.question = question;
    this.onWords();
  }

  wordsArrived(): void {
    this.onWords();
  }

  private get heard(): ReturnType<NonNullable<AnsweringCallerOptions['heard']>> {
    const { utterances } = this.question;
    return this.options.heard?.(utterances) ?? { utterances };
  }

  abandon(): void {
    this.isAbandoned = true;
    this.abort.abort(new Error('The agent went on speaking'));
  }

  /** @param before the agent's words in the previous turn @param answer not called once the attempt is abandoned */
  async run(before: string, answer: Answer): Promise<void> {
    let rest: readonly string[] = [];
    const first = await this.decided(before, (texts) => (rest = texts));
    if (first) answer(first);
    for (const [index, text] of rest.entries()) {
      const next = await this.spoken(text, index < rest.length - 1);
      if (next) answer(next);
      if (!next || 'failure' in next) return;
    }
  }

  /** Prepares the next sentence of the line. */
  private async spoken(text: string, hasRest: boolean): Promise<TurnAnswer | undefined> {
    const { turn, attempt } = this;
    const signal = AbortSignal.any([this.abort.signal, this.options.signal]);
    try {
      const sound = await this.options.speak(text, signal);
      return signal.aborted ? undefined : { turn, attempt, reason: 'speech', rest: { text, sound, hasRest } };
    } catch (error) {
      return signal.aborted ? undefined : { turn, attempt, reason: 'speech', failure: failureOf(error) };
    }
  }

  private async decided(before: string, onRest: (texts: readonly string[]) => void): Promise<TurnAnswer | undefined> {
    const { turn, attempt } = this;
    const { signal } = this.options;
    const unheard = await this.timed('words', this.awaitWords());
    if (this.isAbandoned || signal.aborted) return undefined;
    if (unheard) return { turn, attempt, reason: 'words', failure: unheard };
    try {
      const { rest = [], ...steps } = await this.decide(this.replyAfter(before));
      if (this.isAbandoned) return undefined;
      onRest(rest);
      return { turn, attempt, reason: this.reason, ...steps };
    } catch (error) {
      if (this.isAbandoned || signal.aborted) return undefined;
      const { reason } = this;
      if (error instanceof CallerUnusable) return { turn, attempt, reason, unusable: error.message };
      return { turn, attempt, reason, failure: failureOf(error) };
    }
  }

  private replyAfter(before: string): AgentReply {
    const { isSilent, spoken, interruption } = this.question;
    const { utterances } = this.heard;
    const line = { isSilent, ...(spoken !== undefined && { spoken }) };
    if (!interruption) return { answer: this.words || before, ...line };
    const isBefore = ({ turn }: AgentUtterance) => turn < interruption.turn;
    const heard = wordsOf(utterances.filter(isBefore));
    const answer = wordsOf(utterances.filter((utterance) => !isBefore(utterance)));
    return { answer, ...line, interrupted: { heard, said: interruption.text } };
  }

  private async decide(reply: AgentReply): Promise<PreparedSteps> {
    const { caller, prepare, clock, engine } = this.options;
    let isDecided = false;
    const signal = AbortSignal.any([this.abort.signal, this.options.signal]);
    const cancel = clock.schedule(DECISION_MS, () =>
      this.abort.abort(isDecided ? speechTooSlow(engine) : new TooSlow()),
    );
    try {
      this.wasAsked = true;
      const action = await this.timed('model', Promise.resolve(caller.next(reply, signal)));
      isDecided = true;
      return await this.timed('speech', prepare(action, signal));
    } finally {
      cancel();
    }
  }

  private async timed<T>(what: ThinkingReason, work: Promise<T>): Promise<T> {
    const since = this.options.clock.now();
    try {
      return await work;
    } finally {
      this.spent[what] += this.options.clock.now() - since;
    }
  }

  /** The reason that took the most time. A script only waits for words, since its lines are ready. */
  private get reason(): ThinkingReason {
    const { words, model, speech } = this.spent;
    if (this.options.caller.kind === 'scripted') return speech > words ? 'speech' : 'words';
    if (words > Math.max(model, speech)) return 'words';
    return speech > model ? 'speech' : 'model';
  }

  /** Waits until all words of the agent are known. @returns why they will stay unknown */
  private async awaitWords(): Promise<Failure | undefined> {
    const state = () => {
      const { utterances, failure: broken } = this.heard;
      return utterances.every(({ text }) => text !== null) ? 'known' : broken;
    };
    const result = (found: 'known' | Failure) => (found === 'known' ? undefined : found);
    const present = state();
    if (present || this.abort.signal.aborted) return present && result(present);
    return new Promise((resolve) => {
      const settle = (broken: Failure | undefined) => {
        cancel();
        this.onWords = () => undefined;
        resolve(broken);
      };
      const slow = failure('stt_slow', `${WORDS_MS / 1_000} s after its turn`);
      const cancel = this.options.clock.schedule(WORDS_MS, () => settle(slow));
      this.onWords = () => {
        const found = state();
        if (found) settle(result(found));
      };
      for (const signal of [this.abort.signal, this.options.signal]) {
        signal.addEventListener('abort', () => settle(undefined), { once: true });
      }
    });
  }
}

const wordsOf = (utterances: readonly AgentUtterance[]): string =>
  utterances.flatMap(({ text }) => (text === null || text === '' ? [] : [text])).join(' ');

class TooSlow extends CallFailure {
  constructor() {
    super('caller_slow', `nothing within ${DECISION_MS / 1_000} s`);
  }
}

const speechTooSlow = (engine = 'the speech engine'): CallFailure =>
  new CallFailure(
    'speech_failed',
    `${engine} took too long: no audio ${DECISION_MS / 1_000} s after the caller was asked`,
  );
