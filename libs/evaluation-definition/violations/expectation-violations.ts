import type { Violation } from '../../json-input/index.js';
import { eventsOf, type FoundCheck, withNested } from '../checks/checks.js';
import type { CheckType, PartialDefinition } from '../definition/definition.js';
import { LIMITS } from '../definition/limits.js';
import { expectationLists } from '../expectations.js';

/** Checks of what an agent does after one line. */
const AFTER_A_LINE: ReadonlySet<CheckType> = new Set([
  ...(['says', 'never_says', 'calls_tool', 'never_calls_tool', 'max_latency_ms', 'max_pause_ms'] as const),
  ...(['max_answer_words', 'answers', 'transfers', 'language', 'speakable'] as const),
  ...(['criterion', 'any_of', 'all_of', 'not', 'when'] as const),
]);

/** What a script expects and cannot be found after a line, or too much of it. */
export function expectationViolations({ script }: Pick<PartialDefinition, 'script'>): Violation[] {
  const lists = expectationLists(script);
  const count = lists.reduce((sum, { expect }) => sum + expect.length, 0);
  const most = {
    path: ['script'],
    text: `expects ${count} things of its lines; at most ${LIMITS.checks} are possible`,
  };
  const found = lists.flatMap(({ expect, path }) =>
    expect.flatMap((check, index) => withNested(check, [...path, index]).flatMap(violationsOf)),
  );
  return count > LIMITS.checks ? [most, ...found] : found;
}

function violationsOf({ check, path }: FoundCheck): Violation[] {
  if (!AFTER_A_LINE.has(check.type)) {
    return [{ path: [...path, 'type'], text: `${check.type} is about the whole call: write it in checks` }];
  }
  const turn = { path: [...path, 'turn'], text: 'is not possible in expect, which is about one turn: remove it' };
  const callers = eventsOf(check).flatMap(([steps, event]) => {
    if ('tool' in event || event.speaker === 'agent') return [];
    const text = 'must be agent: expect is about what the agent does after the line; write others in checks';
    return [{ path: [...path, ...steps, 'speaker'], text }];
  });
  return [...('turn' in check ? [turn] : []), ...callers];
}
