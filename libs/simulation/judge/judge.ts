import type { Criterion } from '../../evaluation-definition/index.js';
import type { Scenario } from '../callers/persona.js';
import { sanitizeText, truncate } from '../text.js';
import type { Clock } from '../clock.js';
import { CallFailure } from '../failure.js';
import { extractJsonObject } from '../extract-json.js';
import type { LanguageModel } from '../llm.js';
import type { ModelMeter } from '../tester-usage.js';
import type { TimelineEntry } from '../timeline.js';
import type { Invalidity } from '../validity.js';
import type { CriterionResult, Sample } from './criterion-result.js';
import { askAgain, CALLER_KEEPS_ROLE, judgeMessages } from './prompt.js';
import { Transcript } from './transcript.js';

export interface JudgeOptions {
  readonly model: LanguageModel;
  readonly entries: readonly TimelineEntry[];
  readonly scenario: Scenario;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly meter: ModelMeter;
}

/** Number of statements of one call that are judged concurrently. */
const PARALLEL = 4;
/** Additional samples that confirm or overturn a failing verdict. */
const CONFIRMATIONS = 2;
const FIRST_TEMPERATURE = 0;
/** Above 0, because the samples would otherwise repeat the first. */
const CONFIRMING_TEMPERATURE = 0.7;
const MAX_REASONING = 1_000;

type Ruling = Pick<CriterionResult, 'verdict' | 'reason' | 'evidence' | 'samples' | 'disagreement'>;
type Who = 'agent' | 'caller' | undefined;

/** Judges statements about a call with a language model. Only verdicts with a quote from the transcript count. */
export class Judge {
  private readonly transcript: Transcript;
  private readonly text: string;

  constructor(private readonly options: JudgeOptions) {
    this.transcript = new Transcript(options.entries);
    this.text = this.transcript.toString();
  }

  /** Judges all criteria; `not_judged` with a failure when the model fails. @throws the signal's reason */
  async criteria(criteria: readonly Criterion[]): Promise<CriterionResult[]> {
    const results: CriterionResult[] = [];
    const open = [...criteria.entries()];
    const work = async () => {
      for (let item = open.shift(); item; item = open.shift()) {
        const [index, criterion] = item;
        results[index] = { index, ...criterion, ...(await this.rule(criterion.text)) };
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, work));
    return results;
  }

  /** Whether a generated caller left its role in a way that code cannot detect. @throws the signal's reason */
  async callerInvalidity(): Promise<Invalidity | undefined> {
    const { verdict, reason, evidence } = await this.rule(CALLER_KEEPS_ROLE, 'caller');
    if (verdict !== 'not_met' || !evidence) return undefined;
    return { code: 'left_role', message: `The caller left its role: ${reason}`, evidence: [evidence] };
  }

  private async rule(statement: string, who?: Who): Promise<Ruling & Pick<CriterionResult, 'failure'>> {
    try {
      return await this.decide(statement, who);
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error;
      const { failure } = error;
      const none = { evidence: null, samples: [], disagreement: false };
      return { verdict: 'not_judged', reason: failure.message, failure, ...none };
    }
  }

  private async decide(statement: string, who: Who): Promise<Ruling> {
    const first = await this.sample(statement, FIRST_TEMPERATURE, who);
    const samples = [first];
    if (first.met === false) {
      for (let n = 0; n < CONFIRMATIONS; n++) samples.push(await this.sample(statement, CONFIRMING_TEMPERATURE, who));
    }
    const votes = samples.flatMap(({ met }) => (met === null ? [] : [met]));
    const against = votes.filter((met) => !met).length;
    const disagreement = against > 0 && against < votes.length;
    // Two of three samples are a majority, even if the third gave no verdict.
    const needed = samples.length === 1 ? 1 : 2;
    const met = votes.length - against >= needed ? true : against >= needed ? false : undefined;
    const speaker = samples.find((sample) => sample.met === met);
    if (met === undefined || !speaker) {
      const reason = 'The judge gave no verdict with a quote from the transcript';
      return { verdict: 'no_verdict', reason, evidence: null, samples, disagreement };
    }
    const { reasoning, evidence } = speaker;
    return { verdict: met ? 'met' : 'not_met', reason: reasoning, evidence, samples, disagreement };
  }

  /** Takes one sample; asks a second time when the first answer is unusable. */
  private async sample(statement: string, temperature: number, who: Who): Promise<Sample> {
    const { model, scenario, clock, signal, meter } = this.options;
    const told = [scenario.scenarioText, scenario.generalInstructions ?? ''].join('\n').trim();
    const messages = judgeMessages(statement, this.text, told);
    const ask = () => model.ask(messages, { temperature, clock, signal, meter });
    const answer = await ask();
    const sample = this.read(answer, who);
    if (typeof sample !== 'string') return sample;
    messages.push({ role: 'assistant', content: truncate(answer, 2_000) || '(nothing)' });
    messages.push({ role: 'user', content: askAgain(sample) });
    const second = this.read(await ask(), who);
    return typeof second === 'string' ? { met: null, reasoning: second, evidence: null } : second;
  }

  /** @returns the sample, or what is wrong with the answer, as a sentence for the model */
  private read(answer: string, who: Who): Sample | string {
    const { met, quote, reasoning } = extractJsonObject(answer) ?? {};
    if (typeof met !== 'boolean') return 'That was no JSON object with "met" as true or false.';
    if (typeof quote !== 'string' || quote.trim() === '') return 'That had no quote.';
    const clean = sanitizeText(quote);
    const evidence = this.transcript.locate(clean, who);
    if (!evidence) return `Nobody said "${truncate(clean, 200)}" in the transcript.`;
    const text = typeof reasoning === 'string' ? truncate(sanitizeText(reasoning).trim(), MAX_REASONING) : '';
    return { met, reasoning: text.replace(/\.$/, '') || 'The judge gave no reason', evidence };
  }
}

/** The results of criteria that were not judged. */
export const unjudged = (criteria: readonly Criterion[], reason: string): CriterionResult[] =>
  criteria.map((criterion, index) => ({
    index,
    ...criterion,
    verdict: 'not_judged',
    reason,
    evidence: null,
    samples: [],
    disagreement: false,
  }));
