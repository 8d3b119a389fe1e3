import { DEFAULT_LANGUAGE, languageName } from '../../evaluation-definition/index.js';
import type { Scenario } from '../callers/persona.js';
import { sanitizeText, truncate } from '../timeline/text.js';
import type { Clock } from '../time/clock.js';
import { CallFailure, type Failure, failure } from '../timeline/failure.js';
import { objectsIn } from '../model/answer-objects.js';
import type { LanguageModel } from '../model/llm.js';
import type { ModelMeter } from '../measures/tester-usage.js';
import type { TimelineEntry } from '../timeline/timeline.js';
import type { WordSource } from '../voice/facts/results.js';
import type { Invalidity } from '../validity/invalidity.js';
import type { Judged, Sample } from './criterion-result.js';
import { askAgain, CALLER_KEEPS_ROLE, judgeMessages } from './prompt.js';
import { type JudgedPart, ofMissingPart, type Statement } from './statements.js';
import { type QuotedSide, Transcript } from './transcript.js';

export interface JudgeOptions {
  readonly model: LanguageModel;
  readonly entries: readonly TimelineEntry[];
  readonly wordSource?: WordSource | undefined;
  readonly scenario: Scenario;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly meter: ModelMeter;
  readonly samples: JudgeSamples;
}

/** Number of verdicts on one statement: two, and a third when they disagree; or one. */
export type JudgeSamples = 1 | 3;

/** Number of statements of one call that are judged concurrently. */
const PARALLEL = 4;
const FIRST_TEMPERATURE = 0;
/** Above 0, because the samples would otherwise repeat the first. */
const FURTHER_TEMPERATURE = 0.7;
const MAX_REASONING = 1_000;
/** Maximum length of an unusable answer in the result. */
const MAX_UNUSABLE = 500;

const UNCLEAR = 'It depends on words of the agent that are not known';

/** Whether a generated caller kept its role. */
interface RoleRuling {
  /** How it did not. */
  readonly invalidity?: Invalidity;
  /** Why that could not be decided. */
  readonly failure?: Failure;
  /** Answers of the model that were unusable, truncated. */
  readonly unusable: readonly string[];
}

/** Judges statements about a call with a language model. Only verdicts with a quote from the transcript count. */
export class Judge {
  private readonly transcript: Transcript;
  private readonly text: string;

  constructor(private readonly options: JudgeOptions) {
    this.transcript = new Transcript(options.entries, options.wordSource);
    this.text = this.transcript.toString();
  }

  /** Judges all statements; `not_judged` with a failure when the model fails. @throws the signal's reason */
  async statements(statements: readonly Statement[]): Promise<Judged[]> {
    const results: Judged[] = [];
    const open = [...statements.entries()];
    const work = async () => {
      for (let item = open.shift(); item; item = open.shift()) {
        const [index, statement] = item;
        results[index] = ofMissingPart(statement, this.options.entries) ?? (await this.rule(statement));
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, work));
    return results;
  }

  /**
   * Whether a generated caller left its role in a way that code cannot detect.
   * @throws the signal's reason
   */
  async callerRole(): Promise<RoleRuling> {
    // What the agent said proves nothing about its caller, not even that the call was ended too early.
    const ruled = await this.rule({ text: CALLER_KEEPS_ROLE }, 'caller');
    const { verdict, reason, evidence, samples, failure: cause } = ruled;
    const unusable = samples.flatMap((sample) => sample.unusable ?? []);
    if (verdict === 'met') return { unusable };
    if (verdict !== 'not_met' || !evidence)
      return { unusable, failure: cause ?? failure('no_verdict', 'whether the caller kept its role') };
    const message = `The caller left its role: ${reason}`;
    return { unusable, invalidity: { code: 'left_role', message, evidence: [evidence] } };
  }

  private async rule(statement: Statement, who?: QuotedSide): Promise<Judged> {
    try {
      return await this.decide(statement, who);
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error;
      const none = { evidence: null, samples: [], disagreement: false };
      return { verdict: 'not_judged', reason: error.failure.message, failure: error.failure, ...none };
    }
  }

  private async decide(statement: Statement, who: QuotedSide): Promise<Judged> {
    const samples = [await this.sample(statement, FIRST_TEMPERATURE, who)];
    if (this.options.samples > 1) {
      samples.push(await this.sample(statement, FURTHER_TEMPERATURE, who));
      const [first, second] = samples;
      // If both gave no verdict, a third could not give a majority.
      if (first!.met !== second!.met) samples.push(await this.sample(statement, FURTHER_TEMPERATURE, who));
    }
    const count = (met: boolean) => samples.filter((sample) => sample.met === met).length;
    const majority = this.options.samples > 1 ? 2 : 1;
    const disagreement = count(true) > 0 && count(false) > 0;
    const met = count(true) >= majority ? true : count(false) >= majority ? false : undefined;
    const winner = samples.find((sample) => sample.met === met);
    if (samples.filter(({ isUnclear }) => isUnclear).length >= majority) {
      const cause = failure('words_unknown');
      return { verdict: 'no_verdict', reason: UNCLEAR, evidence: null, samples, disagreement, failure: cause };
    }
    if (met === undefined || !winner) {
      const reason = disagreement
        ? "The judge's verdicts contradict each other"
        : 'The judge gave no verdict with a quote from the transcript';
      return { verdict: 'no_verdict', reason, evidence: null, samples, disagreement };
    }
    const { reasoning, evidence } = winner;
    return { verdict: met ? 'met' : 'not_met', reason: reasoning, evidence, samples, disagreement };
  }

  /** Takes one sample; asks a second time when the first answer is unusable. */
  private async sample(statement: Statement, temperature: number, who: QuotedSide): Promise<Sample> {
    const { model, scenario, clock, signal, meter } = this.options;
    const told = [scenario.scenarioText, scenario.generalInstructions ?? ''].join('\n').trim();
    const language = languageName(scenario.language ?? DEFAULT_LANGUAGE);
    const { hasHistory, voice } = this.transcript;
    const { text, part } = statement;
    const transcript = part ? this.transcript.toString(part) : this.text;
    const about = { statement: text, part, who, transcript, context: told };
    const messages = judgeMessages({ ...about, language, hasHistory, voice });
    const ask = () => model.ask(messages, { temperature, clock, signal, meter });
    const answer = await ask();
    const sample = this.read(answer, who, part);
    if (typeof sample !== 'string') return sample;
    messages.push({ role: 'assistant', content: truncate(answer, 2_000) || '(nothing)' });
    messages.push({ role: 'user', content: askAgain(sample, who) });
    const again = await ask();
    const second = this.read(again, who, part);
    if (typeof second !== 'string') return { ...second, unusable: [shown(answer)] };
    return { met: null, reasoning: second, evidence: null, unusable: [shown(answer), shown(again)] };
  }

  /** @returns the sample, or what is wrong with the answer, as a sentence for the model */
  private read(answer: string, who: QuotedSide, part: JudgedPart | undefined): Sample | string {
    const objects = objectsIn(answer).filter(({ text }) => !this.transcript.repeats(text));
    const verdicts = objects.map(({ value }) => value).filter((value) => metOf(value['met']) !== undefined);
    const { met: given, quote, reasoning } = verdicts.at(-1) ?? {};
    const met = metOf(given);
    // A draft has no quote.
    if (verdicts.some((one) => metOf(one['met']) !== met && (one['met'] === null || typeof one['quote'] === 'string')))
      return 'That had verdicts that contradict each other.';
    const text = typeof reasoning === 'string' ? truncate(sanitizeText(reasoning).trim(), MAX_REASONING) : '';
    if (met === null && this.transcript.voice?.isUnclear) {
      return { met, reasoning: text.replace(/\.$/, '') || UNCLEAR, evidence: null, isUnclear: true };
    }
    if (typeof met !== 'boolean') return 'That was not a JSON object with "met" as true or false.';
    if (typeof quote !== 'string' || quote.trim() === '') return 'That had no quote.';
    const evidence = this.transcript.locate(sanitizeText(quote), who, met, part);
    if ('fault' in evidence) return evidence.fault;
    return { met, reasoning: text.replace(/\.$/, '') || 'The judge gave no reason', evidence };
  }
}

/** True and false also as text; null if it depends on words that are not known; undefined for anything else. */
function metOf(value: unknown): boolean | null | undefined {
  if (typeof value !== 'string') return typeof value === 'boolean' || value === null ? value : undefined;
  const word = value.trim().toLowerCase();
  return word === 'true' ? true : word === 'false' ? false : undefined;
}

const shown = (answer: string): string => truncate(answer, MAX_UNUSABLE);

/** A statement that was not judged. @param cause that makes the call an error if it is required */
export const unjudged = (reason: string, cause?: Failure): Judged => ({
  verdict: 'not_judged',
  reason,
  evidence: null,
  samples: [],
  disagreement: false,
  ...(cause && { failure: cause }),
});
