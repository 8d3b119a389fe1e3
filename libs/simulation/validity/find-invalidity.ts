import type { EvaluationDefinition } from '../../evaluation-definition/index.js';
import { CallView } from '../timeline/call-view.js';
import type { Personality, Scenario } from '../callers/persona.js';
import { isInterruption } from '../timeline/interruptions.js';
import type { EndEntry, TimelineEntry } from '../timeline/timeline.js';
import { endedEarly, neverEnded } from './ending.js';
import { inventedFact } from './facts.js';
import { type CallerConduct, evidenceOf, type Invalidity } from './invalidity.js';
import { leftRole, spokeAsAgent } from './impersonation.js';
import { repeatedItself } from './repetition.js';

export interface ValidityInput {
  readonly kind: 'scripted' | 'generated';
  readonly entries: readonly TimelineEntry[];
  /** Whether the caller hung up while the agent was still speaking or acting. */
  readonly wasAgentActing: boolean;
  readonly personality: Personality;
  readonly scenario: Scenario;
}

/** What code can tell about a generated caller; the judge decides the rest. */
const RULES: readonly ((conduct: CallerConduct) => Invalidity | undefined)[] = [
  inventedFact,
  spokeAsAgent,
  leftRole,
  repeatedItself,
  endedEarly,
  neverEnded,
];

/**
 * Whether the caller broke its role, as far as code can decide; the earliest break, if there are several. A scripted
 * caller says what its author wrote, so it can only hang up too early or have no answer.
 */
export function findInvalidity({ kind, entries, wasAgentActing, ...who }: ValidityInput): Invalidity | undefined {
  const view = CallView.of(entries);
  const { end } = view;
  if (end?.code === 'caller_broken') return { code: 'caller_unusable', message: end.reason, evidence: [] };
  if (end?.code === 'no_answer') return hadNoAnswer(view, end);
  if (wasAgentActing) {
    return { code: 'ended_early', message: 'The caller hung up while the agent was still acting', evidence: [] };
  }
  if (kind === 'scripted') return undefined;
  const own = view.withEntries(entries.map(withoutInterruption));
  const found = RULES.flatMap((rule) => rule({ view: own, ...who }) ?? []);
  const brokenAt = ({ evidence }: Invalidity) => evidence[0]?.entry ?? Infinity;
  return found.sort((a, b) => brokenAt(a) - brokenAt(b))[0];
}

/** Words that the caller was given to interrupt the agent are not its own. */
function withoutInterruption(entry: TimelineEntry): TimelineEntry {
  if (!isInterruption(entry)) return entry;
  const { start, end, turn, text: name } = entry;
  return { type: 'sound', speaker: 'caller', kind: 'filler', name, possible: true, start, end, turn };
}

/** The evidence begins with the first of the agent's lines to which the script had no answer. */
function hadNoAnswer(view: CallView, { reason }: EndEntry): Invalidity {
  const turns = view.said('caller').filter(({ parts }) => !parts[0]?.entry.script?.repeated);
  const known = turns.findLast(({ parts }) => !parts[0]?.entry.script?.otherwise)?.turn ?? -1;
  const unknown = view.said('agent').filter(({ turn }) => turn >= known);
  return { code: 'no_answer', message: reason, evidence: unknown.map(evidenceOf) };
}

/** Whether all was met when a script ended that has no answer to what follows its last line, so that none was needed. */
export function isMetByLines(
  { script, criteria }: Pick<EvaluationDefinition, 'script' | 'criteria'>,
  { code }: Pick<EndEntry, 'code'>,
  checks: readonly { readonly met: boolean | null }[],
): boolean {
  const last = script.at(-1);
  const isOpen = code === 'no_answer' && last !== undefined && 'end' in last && last.unless !== undefined;
  return isOpen && checks.length > 0 && criteria.length === 0 && checks.every(({ met }) => met === true);
}
