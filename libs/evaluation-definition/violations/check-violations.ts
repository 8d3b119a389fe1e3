import { CHECKS, eventsOf, type FoundCheck, isProhibition } from '../checks/checks.js';
import type { CheckKind, Found } from '../checks/kind.js';
import type { NestedCheck, PartialDefinition, SpokenMatcher } from '../definition/definition.js';
import { expectationLists, everyCheck } from '../expectations.js';
import { type Path, shownPath, type Violation } from '../../json-input/index.js';
import { ScriptedLines } from './script-violations.js';

const kindOf = ({ type }: NestedCheck): CheckKind<NestedCheck> => CHECKS[type];

/** Checks that could never fail or never be met. `isValid` says whether a matcher is valid. */
export function checkViolations(
  definition: PartialDefinition,
  isValid: (matcher: SpokenMatcher) => boolean,
  searchBudget?: number,
): Violation[] {
  const lines = new ScriptedLines(definition.script, searchBudget);
  return [
    ...everyCheck(definition).flatMap((found) => {
      const violations = [
        ...kindOf(found.check).violations(found.check, definition),
        ...unsaid(found, lines, isValid),
        ...nesting(found),
      ];
      return violations.map(([field, text]) => ({ path: [...found.path, ...field], text }));
    }),
    ...repetitions(definition.checks, ['checks']),
    ...expectationLists(definition.script).flatMap(({ expect, path }) => repetitions(expect, path)),
  ];
}

/** A scripted caller only says the lines of its script. */
function unsaid(
  { check, depth }: FoundCheck,
  lines: ScriptedLines,
  isValid: (matcher: SpokenMatcher) => boolean,
): Found[] {
  return eventsOf(check).flatMap(([steps, event]): Found[] => {
    if ('tool' in event || event.speaker !== 'caller' || !isValid(event) || lines.includes(event) !== false) return [];
    const isOwn = steps.length === 0;
    const isForbidden = isProhibition(check);
    const effect = isForbidden && isOwn ? 'fail' : 'hold';
    const field = isOwn ? [matcherField(event)] : steps;
    const isCertain = depth === 0 && (isOwn || !isForbidden);
    return [[field, `is never said by the script${isCertain ? `, so the check could never ${effect}` : ''}`]];
  });
}

const matcherField = (matcher: SpokenMatcher): string => ('pattern' in matcher ? 'pattern' : 'text');

const MAX_DEPTH = 2;

function nesting({ check, depth }: FoundCheck): Found[] {
  if (depth > MAX_DEPTH) return [[[], `is nested too deeply: checks may contain checks over ${MAX_DEPTH} levels`]];
  const weights = depth === 0 ? [] : (['weight', 'required'] as const).filter((field) => field in check);
  return weights.map((field) => [[field], 'has no effect inside another check: set it on the outermost one']);
}

/** Checks that duplicate or contradict an earlier check of the list. */
function repetitions(checks: PartialDefinition['checks'], list: Path): Violation[] {
  const violations: Violation[] = [];
  const earlier = new Map<string, { index: number; side: string }>();
  const names = new Map<string, number>();
  const nameOf = (index: number) => shownPath([...list, index]);
  checks.forEach((check, index) => {
    if (!check) return;
    const named = check.name === undefined ? undefined : names.get(check.name);
    if (named !== undefined)
      violations.push({ path: [...list, index, 'name'], text: `must be unique: ${nameOf(named)} has the same name` });
    else if (check.name !== undefined) names.set(check.name, index);

    const [about, side] = kindOf(check).subject(check);
    const same = earlier.get(about);
    if (!same) earlier.set(about, { index, side });
    else if (same.side === side) {
      violations.push({ path: [...list, index], text: `duplicates ${nameOf(same.index)}` });
    } else {
      violations.push({ path: [...list, index], text: `contradicts ${nameOf(same.index)}: they can never both hold` });
    }
  });
  return violations;
}
