import { MIN_TURNS_FOR_PERCENTILES } from '../statistics/index.js';
import type { Check, PartialDefinition, SpokenMatcher } from './definition.js';
import { LIMITS } from './limits.js';
import { fold } from './matcher.js';
import type { Violation } from '../json-input/index.js';
import { mostTurns, ScriptedLines } from './script-violations.js';

/** Checks that could never fail or never be met. `isSound` says whether a matcher is valid. */
export function checkViolations(
  definition: PartialDefinition,
  isSound: (matcher: SpokenMatcher) => boolean,
): Violation[] {
  const { checks } = definition;
  const lines = new ScriptedLines(definition.script);
  return [
    ...checks.flatMap((check, index) => {
      const violations = check ? violationsOf(check, definition, lines, isSound) : [];
      return violations.map(([field, text]) => ({ path: ['checks', index, field], text }));
    }),
    ...repetitions(checks),
  ];
}

type Found = readonly [field: string, text: string];

function violationsOf(
  check: Check,
  definition: PartialDefinition,
  lines: ScriptedLines,
  isSound: (matcher: SpokenMatcher) => boolean,
): Found[] {
  switch (check.type) {
    case 'says':
    case 'never_says':
      return isSound(check) ? unsaid(lines, [[matcherField(check), check]], check.type === 'says') : [];
    case 'says_before': {
      const sound = (
        [
          ['first', check.first],
          ['then', check.then],
        ] as const
      ).filter(([, part]) => isSound(part));
      const isOnce = sound.length === 2 && identity(check.first) === identity(check.then);
      return [...unsaid(lines, sound, true), ...(isOnce ? [['then', 'must differ from first'] as const] : [])];
    }
    case 'calls_tool':
    case 'never_calls_tool':
      return toolViolations(check);
    case 'max_turns':
      return atLeast('turns', check.turns, definition.maxTurns, 'maxTurns');
    case 'max_latency_ms':
      return [...timeViolations(check.ms, definition), ...percentileViolations(check.percentile, definition)];
    case 'max_duration_ms':
    case 'max_silence_ms':
      return timeViolations(check.ms, definition);
    case 'ends_by':
      return [];
  }
}

/** A scripted caller only says the lines of its script. */
function unsaid(
  lines: ScriptedLines,
  parts: readonly (readonly [string, SpokenMatcher])[],
  isWanted: boolean,
): Found[] {
  return parts
    .filter(([, part]) => part.speaker === 'caller' && lines.includes(part) === false)
    .map(([field]) => [field, `is never said by the script, so the check could never ${isWanted ? 'hold' : 'fail'}`]);
}

const matcherField = (matcher: SpokenMatcher): string => ('pattern' in matcher ? 'pattern' : 'text');

function toolViolations(check: Check & { tool: string; arguments?: object }): Found[] {
  const violations: Found[] = [];
  if (check.tool.trim() !== check.tool) violations.push(['tool', 'must not begin or end with white space']);
  if (check.arguments && JSON.stringify(check.arguments).length > LIMITS.arguments) {
    violations.push(['arguments', `must have at most ${LIMITS.arguments} characters as JSON`]);
  }
  return violations;
}

function atLeast(field: string, limit: number, cut: number | undefined, name: string): Found[] {
  if (cut === undefined || limit < cut) return [];
  return [[field, `must be less than ${name} (${cut}), or the check could never fail`]];
}

function timeViolations(ms: number, { maxDurationSeconds }: PartialDefinition): Found[] {
  if (maxDurationSeconds === undefined || ms < maxDurationSeconds * 1000) return [];
  return [['ms', `must be less than maxDurationSeconds (${maxDurationSeconds}), or the check could never fail`]];
}

function percentileViolations(percentile: number, { script, maxTurns }: PartialDefinition): Found[] {
  if (percentile < 90 || percentile === 100) return [];
  const scripted = mostTurns(script);
  if (maxTurns !== undefined && maxTurns < MIN_TURNS_FOR_PERCENTILES) {
    return [
      ['percentile', `${percentile} requires at least ${MIN_TURNS_FOR_PERCENTILES} turns, but maxTurns is ${maxTurns}`],
    ];
  }
  if (scripted !== undefined && scripted < MIN_TURNS_FOR_PERCENTILES) {
    return [
      ['percentile', `${percentile} requires at least ${MIN_TURNS_FOR_PERCENTILES} turns, but script has ${scripted}`],
    ];
  }
  return [];
}

const OPPOSITES: Readonly<Partial<Record<Check['type'], string>>> = {
  never_says: 'says',
  never_calls_tool: 'calls_tool',
};

/** Checks that duplicate or contradict an earlier check. */
function repetitions(checks: PartialDefinition['checks']): Violation[] {
  const violations: Violation[] = [];
  const earlier = new Map<string, { index: number; type: string }>();
  const names = new Map<string, number>();
  checks.forEach((check, index) => {
    if (!check) return;
    const named = check.name === undefined ? undefined : names.get(check.name);
    if (named !== undefined)
      violations.push({ path: ['checks', index, 'name'], text: `must be unique: checks[${named}] has the same name` });
    else if (check.name !== undefined) names.set(check.name, index);

    const subject = subjectOf(check);
    const same = earlier.get(subject);
    if (!same) earlier.set(subject, { index, type: variantOf(check) });
    else if (same.type === variantOf(check)) {
      violations.push({ path: ['checks', index], text: `duplicates checks[${same.index}]` });
    } else {
      violations.push({ path: ['checks', index], text: `contradicts checks[${same.index}]: they can never both hold` });
    }
  });
  return violations;
}

/** Subject of a check; a check and its opposite have the same one. */
function subjectOf(check: Check): string {
  const kind = OPPOSITES[check.type] ?? check.type;
  const { name: _name, weight: _weight, required: _required, type: _type, ...own } = check;
  switch (check.type) {
    case 'says':
    case 'never_says':
      return `${kind} ${identity(check)}`;
    case 'says_before':
      return `${kind} ${identity(check.first)} ${identity(check.then)}`;
    case 'ends_by':
      return kind;
    default:
      return `${kind} ${canonical(own)}`;
  }
}

/** Which of the two opposites a check is. */
const variantOf = (check: Check): string => (check.type === 'ends_by' ? check.by : check.type);

const identity = (matcher: SpokenMatcher): string =>
  JSON.stringify([
    matcher.speaker,
    'pattern' in matcher ? { pattern: matcher.pattern } : [fold(matcher.text), matcher.partOfWord ?? false],
  ]);

/** JSON with sorted names, so that equal values have equal texts. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, entry]) => `${JSON.stringify(name)}:${canonical(entry)}`).join(',')}}`;
}
