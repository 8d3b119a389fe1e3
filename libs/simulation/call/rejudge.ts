import { criteriaIn, type EvaluationDefinition } from '../../evaluation-definition/index.js';
import type { Scenario } from '../callers/persona.js';
import { verdictsOn, withVerdicts } from '../checks/criterion.js';
import { mayHaveLeft } from '../checks/transfers.js';
import { judgeCall } from '../judge/judge-call.js';
import type { JudgeSamples } from '../judge/judge.js';
import { mistakenResult } from '../conversation/tool-results.js';
import { JUDGE_PROMPT_VERSION } from '../judge/prompt.js';
import { ModelMeter, totalCostUsd } from '../measures/tester-usage.js';
import type { LanguageModel } from '../model/llm.js';
import { withJudges } from '../other-side/call-exchange.js';
import { RealClock } from '../time/clock.js';
import { CallView, type HeardTimes } from '../timeline/call-view.js';
import { unexercised } from '../validity/exercise.js';
import type { CallResult } from './call.js';
import { rootCauses } from './root-causes.js';
import { decide } from './verdict.js';

export interface RejudgeOptions {
  /** With the criteria of today. */
  readonly definition: EvaluationDefinition;
  readonly scenario: Scenario;
  readonly recorded: CallResult;
  readonly model: LanguageModel;
  readonly judgeSamples?: JudgeSamples;
  readonly signal: AbortSignal;
}

/** The times of a voice call are in the results of its checks already. */
const TIMES_DECIDED: HeardTimes = { waits: [], gaps: [], pauses: [], firstSound: { plusMinusMs: 0 }, thinking: [] };

/**
 * The result of a call with its criteria judged again, by their text (in checks: the text of the call) and the model of today, and whether a generated caller
 * kept its role. Everything else is that of the call, and a call that no judge can decide about stays as it is.
 * @throws the signal's reason
 */
export async function rejudge(options: RejudgeOptions): Promise<CallResult> {
  const { definition, scenario, recorded, model, judgeSamples: samples, signal } = options;
  const { timeline: entries, checks, end, versions, voice } = recorded;
  const view = CallView.of(entries, [], voice ? TIMES_DECIDED : undefined);
  if (!isForJudge(recorded) || unexercised({ ...definition, view }) !== undefined) return recorded;
  const meter = new ModelMeter(model.prices);
  const isGenerated = versions.caller === 'generated';
  const clock = new RealClock();
  const wordSource = voice?.wordsFrom?.source;
  const judged = await judgeCall({
    ...{ definition, scenario, entries, isGenerated, wordSource },
    ...{ model, samples, clock, signal, meter },
  });
  const verdicts = verdictsOn(criteriaIn(definition.checks), judged.inChecks);
  const again = await withVerdicts(definition.checks, checks, verdicts, wordSource === 'recogniser');
  const mistaken = mistakenResult(definition.toolResults, entries);
  const { tester } = recorded.measures;
  const costUsd = totalCostUsd([tester.caller, meter.use]);
  const hasJudged = meter.use.requests > 0;
  return {
    ...recorded,
    ...decide({
      ...{ checks: again, end, failure: undefined, causes: rootCauses(view), mistaken, ...judged },
      isProduction: view.end?.recorded?.isProduction === true,
      mayHaveLeft: mayHaveLeft(definition.checks, again, view),
    }),
    checks: again,
    criteria: judged.criteria,
    invalidity: judged.invalidity ?? null,
    unusableAnswers: withJudges(recorded.unusableAnswers, judged.unusableAnswers),
    measures: { ...recorded.measures, tester: { caller: tester.caller, judge: meter.use, costUsd } },
    versions: {
      ...versions,
      model: hasJudged ? model.model : isGenerated ? versions.model : null,
      judgePrompt: hasJudged ? JUDGE_PROMPT_VERSION : null,
    },
  };
}

/**
 * Whether the outcome of a call depends on its judge: it was decided by code if the call broke off, if the agent spoke another
 * language, if the tester was overloaded, or if the caller broke a rule of its role.
 */
function isForJudge({ outcome, failure, end, invalidity, versions }: CallResult): boolean {
  if (end.code === 'failure' || end.code === 'no_answer' || failure?.fault === 'agent') return false;
  if (outcome === 'error') return failure?.code !== 'tester_overloaded';
  return invalidity === null || versions.judgePrompt !== null;
}
