import { type AgentReply, type Caller, CallerUnusable } from '../../callers/caller.js';
import type { Clock } from '../../time/clock.js';
import { CallFailure, type Failure, failure, failureOf } from '../../timeline/failure.js';
import type { ThinkingReason } from '../facts/facts.js';
import type { AgentUtterance, TurnAnswer, TurnQuestion } from '../facts/turn-question.js';
import type { PreparedSound } from '../facts/plan.js';
import type { PreparedSteps } from '../speaking/prepare.js';

/** How long the caller waits for words of the agent, and then for its own decision, in one attempt. */
const WORDS_MS = 3_000;
const DECISION_MS = 10_000;

export interface AnsweringCallerOptions {
  readonly caller: Caller;
  /** Its steps from an action on, as far as they are known, with their sounds. */
  readonly prepare: (action: Awaited<ReturnType<Caller['next']>>, signal: AbortSignal) => Promise<PreparedSteps>;
  /** The sound of a sentence. */
  readonly speak: (text: string, signal: AbortSignal) => Promise<PreparedSound>;
  /** What speaks, for failures. */
  readonly engine?: string | undefined;
  /** The utterances with the words that a recogniser knows by now, and why others will not be known. */
  readonly heard?: (utterances: readonly AgentUtterance[]) => {
    readonly utterances: readonly AgentUtterance[];
    readonly failure?: Failure;
  };
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

type Answer = (answer: TurnAnswer) => void;

/** Answers the questions of a voice call: waits for the agent's words, asks the caller, and prepares the sound. */
export class AnsweringCaller {
  private attempt: Attempt | undefined;
  /** The agent's latest words. */
  private heard = '';
  private working: Promise<void> = Promise.resolve();

  constructor(private readonly options: AnsweringCallerOptions) {}

  /** A recogniser knows more words. */
  readonly wordsArrived = (): void => this.attempt?.wordsArrived();

  /** An attempt that is asked again has more words than before; a further attempt takes the place of the one before. */
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
  /** Whether the caller was asked: its decision is taken back if the attempt comes to nothing. */
  wasAsked = false;
  /** Another attempt has taken its place. */
  private isAbandoned = false;
  private readonly abort = new AbortController();
  /** Milliseconds that each of them took. */
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

  /** @param before the agent's latest words before this turn @param answer not called if nothing waits for it */
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

  /** The next sentence of the line. */
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

  /** What took the most time. A script waits for words; what it then says is ready. */
  private get reason(): ThinkingReason {
    const { words, model, speech } = this.spent;
    if (this.options.caller.kind === 'scripted') return speech > words ? 'speech' : 'words';
    if (words > Math.max(model, speech)) return 'words';
    return speech > model ? 'speech' : 'model';
  }

  /** Waits until all words of the agent are known. @returns why they are not */
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
