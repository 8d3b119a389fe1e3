import type { EvaluationDefinition } from '../../evaluation-definition/index.js';
import type { Scenario } from '../callers/persona.js';
import type { ModelMeter } from '../measures/tester-usage.js';
import type { LanguageModel } from '../model/llm.js';
import type { Clock } from '../time/clock.js';
import type { UnusableAnswer } from '../other-side/call-exchange.js';
import { type Failure, failure } from '../timeline/failure.js';
import { areAllWordsUnknown } from '../timeline/known-words.js';
import type { TimelineEntry } from '../timeline/timeline.js';
import type { WordSource } from '../voice/facts/results.js';
import type { Invalidity } from '../validity/invalidity.js';
import type { CriterionResult, Judged } from './criterion-result.js';
import { Judge, type JudgeSamples, unjudged } from './judge.js';
import { statementsOf } from './statements.js';

export interface JudgedCall {
  readonly definition: Pick<EvaluationDefinition, 'criteria' | 'checks'>;
  readonly scenario: Scenario;
  readonly entries: readonly TimelineEntry[];
  /** Whether the caller had no script: the judge then decides whether it kept its role, too. */
  readonly isGenerated: boolean;
  /** Where the agent's words on a voice call come from. */
  readonly wordSource?: WordSource | undefined;
  /** Why the call broke off. */
  readonly broken?: Failure | undefined;
  /** How the caller broke its role, as far as code can decide. */
  readonly invalidity?: Invalidity | undefined;
  readonly model: LanguageModel | undefined;
  /** Why there is none. */
  readonly unjudged?: string | undefined;
  /** 3 by default. */
  readonly samples?: JudgeSamples | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly meter: ModelMeter;
  /** Called before the model is asked. */
  readonly onJudging?: () => void;
}

export interface Judgement {
  readonly criteria: readonly CriterionResult[];
  /** On the criteria in checks, in the order of `criteriaIn`. */
  readonly inChecks: readonly Judged[];
  readonly invalidity: Invalidity | undefined;
  /** Why the judge could not decide whether a generated caller kept its role. */
  readonly roleFailure?: Failure | undefined;
  /** The judge's unusable answers about that; those about a criterion are in its samples. */
  readonly unusableAnswers?: readonly UnusableAnswer[];
}

/**
 * Judges all criteria and a generated caller's role, unless the call is not counted anyway.
 * @throws the signal's reason
 */
export async function judgeCall(call: JudgedCall): Promise<Judgement> {
  const { definition, scenario, entries, isGenerated, broken, invalidity, model, samples = 3 } = call;
  const { criteria } = definition;
  const statements = statementsOf(definition, entries);
  const given = (judged: readonly Judged[]) => ({
    criteria: criteria.map((criterion, index) => ({ index, ...criterion, ...judged[index]! })),
    inChecks: judged.slice(criteria.length),
    invalidity,
  });
  const skip = (reason: string, cause?: Failure) => given(statements.map(() => unjudged(reason, cause)));
  if (broken?.fault === 'infrastructure') return skip('The call broke off');
  if (invalidity?.code === 'not_applicable') return skip('The evaluation does not apply');
  if (invalidity) return skip('The caller broke its role');
  if (areAllWordsUnknown(entries)) return skip('The words of the agent are not known', failure('words_unknown'));
  if (!model) return skip(call.unjudged ?? 'No language model is configured');
  if (statements.length === 0 && !isGenerated) return given([]);
  call.onJudging?.();
  const { wordSource, clock, signal, meter } = call;
  const judge = new Judge({ model, entries, wordSource, scenario, clock, signal, meter, samples });
  const role = isGenerated ? await judge.callerRole() : { unusable: [] };
  const unusableAnswers = role.unusable.map((text) => ({ task: 'judge', text }) as const);
  if (role.invalidity) return { ...skip('The caller broke its role'), invalidity: role.invalidity, unusableAnswers };
  return { ...given(await judge.statements(statements)), roleFailure: role.failure, unusableAnswers };
}
