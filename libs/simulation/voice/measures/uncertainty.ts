import { partitionPoint } from '../../../audio/index.js';
import type { AgentSound, Span, VoiceFacts } from '../facts/facts.js';
import { stallAndLagWithin } from './lag.js';
import { tenth } from '../facts/spans.js';

/** How far a time may be off beside a bed, which hides beginnings and ends of words (docs/decisions/0121). */
const BESIDE_BED_MS = { even: 320, uneven: 600 } as const;

/** Uncertainty of a time measured in a span. */
export interface Uncertainty {
  /** From stalls of the tester, the lag that they left in the audio, and the bed. */
  readonly plusMinusMs: number;
  /** Present if there was a bed, or quiet audio that may be one: another call would not help. */
  readonly isBesideBed?: true;
}

/** @param testerMs uncertainty from the tester's stalls; default: that of a span that ends at a sound of the agent */
export function uncertaintyWithin(
  facts: VoiceFacts,
  span: Span,
  testerMs: number = stallAndLagWithin(facts, span),
): Uncertainty {
  const ownMs = testerMs + callerEdgesWithin(facts, span);
  if (!isBesideBed(facts, span)) return { plusMinusMs: tenth(ownMs) };
  const hiddenMs = BESIDE_BED_MS[facts.background?.isUneven ? 'uneven' : 'even'];
  return { plusMinusMs: tenth(ownMs + Math.max(hiddenMs, doubtfulMs(facts, span) ?? 0)), isBesideBed: true };
}

/** Uncertainty of a span that begins or ends with a caller who was only recorded. */
function callerEdgesWithin({ imported, caller }: VoiceFacts, { startMs, endMs }: Span): number {
  if (!imported) return 0;
  const edges = caller.flatMap((act) => [act.startMs, act.endMs]);
  const isEdge = (ms: number) => edges.some((edge) => Math.abs(edge - ms) < 1);
  return imported.callerEdgesMs * (Number(isEdge(startMs)) + Number(isEdge(endMs)));
}

/** Which parts of the agent's sounds at the edges of a span may be background audio; null if none. */
function doubtfulMs({ agent, end }: VoiceFacts, { startMs, endMs }: Span): number | null {
  const soundAt = (edge: 'startMs' | 'endMs') =>
    [startMs, endMs]
      .map((ms) => partitionPoint(agent, (sound) => sound[edge] <= ms - 1))
      .find((index, n) => agent[index]?.certain !== undefined && agent[index][edge] < [startMs, endMs][n]! + 1);
  const [beginning, ending] = [soundAt('startMs'), soundAt('endMs')];
  const isCertain = ({ certain }: AgentSound) => certain !== null;
  let doubtMs = 0;
  if (beginning !== undefined) {
    const first = agent.slice(beginning).find(isCertain);
    doubtMs += (first ? (first.certain ?? first).startMs : end.atMs) - agent[beginning]!.startMs;
  }
  if (ending !== undefined) {
    const last = agent.slice(0, ending + 1).findLast(isCertain);
    doubtMs += agent[ending]!.endMs - (last ? (last.certain ?? last).endMs : 0);
  }
  return beginning === undefined && ending === undefined ? null : doubtMs;
}

/** Whether certain or possible background audio may hide an end of a span. */
export function isBesideBed(facts: VoiceFacts, span: Span): boolean {
  const { background } = facts;
  // Background audio that comes and goes may have been there before it was found.
  const isAfter = background !== null && (background.isUneven || span.endMs >= background.fromMs);
  return isAfter || doubtfulMs(facts, span) !== null;
}
