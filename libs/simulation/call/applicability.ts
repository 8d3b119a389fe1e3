import type { Check, NestedCheck } from '../../evaluation-definition/index.js';
import type { Finding } from '../checks/check-result.js';
import { evaluateChecks } from '../checks/evaluate-checks.js';
import type { CallView } from '../timeline/call-view.js';
import type { YieldToEventLoop } from '../time/yield-to-event-loop.js';
import type { Invalidity } from '../validity/invalidity.js';

/** Why an evaluation does not judge a production call; undefined if it does. @param appliesTo undefined: it judges all */
export async function inapplicable(
  appliesTo: NestedCheck | undefined,
  view: CallView,
  yieldToEventLoop: YieldToEventLoop,
  sounds?: Parameters<typeof evaluateChecks>[3],
): Promise<Invalidity | undefined> {
  if (!appliesTo || !view.end?.recorded?.isProduction) return undefined;
  const check = { ...appliesTo, weight: 1, required: true } as Check;
  const [found]: Pick<Finding, 'met' | 'detail' | 'evidence'>[] = await evaluateChecks(
    [check],
    view,
    yieldToEventLoop,
    sounds,
  );
  if (found!.met === true) return undefined;
  const { detail, evidence } = found!;
  return { code: 'not_applicable', message: `The evaluation does not apply to this call: ${detail}`, evidence };
}
