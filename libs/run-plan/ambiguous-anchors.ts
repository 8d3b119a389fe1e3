import { eventsOf, everyCheck, ScriptedLines, shownPath, withVariables } from '../evaluation-definition/index.js';
import type { PlannedEvaluation } from './planned-evaluation.js';

const MAX_NAMED = 3;

/**
 * Where a check counts only what happens after or before words of the caller that several lines of its script have, as the rest
 * of a sentence about the evaluation; undefined if there is none. Judged by its first case.
 */
export function ambiguousAnchors({ snapshot, cases }: PlannedEvaluation): string | undefined {
  const definition = withVariables(snapshot.definition, cases[0]?.variables ?? null);
  const lines = new ScriptedLines(definition.script);
  const found = everyCheck(definition).flatMap(({ check, path }) =>
    eventsOf(check).flatMap(([steps, event]) => {
      const isAnchor = steps.at(-1) === 'after' || steps.at(-1) === 'before';
      if (!isAnchor || 'tool' in event || event.speaker !== 'caller') return [];
      const count = lines.count(event) ?? 0;
      return count > 1 ? [`${shownPath([...path, ...steps])} fits ${count} lines of the script`] : [];
    }),
  );
  if (found.length === 0) return undefined;
  const more = found.length > MAX_NAMED ? ` and ${found.length - MAX_NAMED} more` : '';
  return `${found.slice(0, MAX_NAMED).join(', ')}${more}, of which the first that is said counts: write the check under its line with expect, or choose words of that line only`;
}
