import { MIN_TURNS_FOR_PERCENTILES } from '../../statistics/index.js';
import { allChecks, eventsOf, type FoundCheck } from './check-events.js';
import {
  type Check,
  ENDED_BY,
  type EndsBySpec,
  type NestedCheck,
  type PartialDefinition,
  type SaysSpec,
  type SpokenMatcher,
  type TalkRatioSpec,
  type ToolSpec,
  type ValueSource,
} from '../definition/definition.js';
import { fold } from '../matching/matcher.js';
import { groupNames } from '../matching/pattern.js';
import type { Path, Violation } from '../../json-input/index.js';
import { voiceCheckViolations } from './voice-check-violations.js';
import { mostTurns, ScriptedLines } from './script-violations.js';

/** Checks that could never fail or never be met. `isValid` says whether a matcher is valid. */
export function checkViolations(
  definition: PartialDefinition,
  isValid: (matcher: SpokenMatcher) => boolean,
  searchBudget?: number,
): Violation[] {
  const { checks } = definition;
  const lines = new ScriptedLines(definition.script, searchBudget);
  return [
    ...allChecks(checks).flatMap((found) => {
      const violations = [
        ...violationsOf(found.check, definition),
        ...unsaid(found, lines, isValid),
        ...nesting(found),
      ];
      return violations.map(([field, text]) => ({ path: [...found.path, ...field], text }));
    }),
    ...repetitions(checks),
  ];
}

type Found = readonly [field: Path, text: string];

function violationsOf(check: NestedCheck, definition: PartialDefinition): Found[] {
  switch (check.type) {
    case 'says':
    case 'never_says':
    case 'calls_tool':
    case 'never_calls_tool':
      return timesViolations(check);
    case 'says_before':
      return identity(check.first) === identity(check.then) ? [[['then'], 'must differ from first']] : [];
    case 'max_turns':
      return atLeast('turns', check.turns, definition.maxTurns, 'maxTurns');
    case 'max_latency_ms':
      return [...timeViolations(check.ms, definition), ...percentileViolations(check.percentile, definition)];
    case 'max_duration_ms':
    case 'max_silence_ms':
    case 'max_time_to_first_word_ms':
    case 'max_pause_ms':
      return timeViolations(check.ms, definition);
    case 'ends_by':
      return endViolations(check, definition);
    case 'talk_ratio':
      return ratioViolations(check);
    case 'same_value':
      return sourceViolations('sources', check.sources);
    case 'understood':
      return [...sourceViolations('values', check.values), ...voiceCheckViolations(check, definition)];
    case 'max_overlap_ms':
      return timeViolations(check.ms, definition);
    default:
      return voiceCheckViolations(check, definition);
  }
}

function timesViolations({ type, times }: SaysSpec | ToolSpec): Found[] {
  if (!times) return [];
  const { min, max } = times;
  if (type.startsWith('never_')) {
    if (max !== undefined)
      return [[['times', 'max'], `is not possible in ${type}: use times.min, or ${type.slice(6)}`]];
    return min === 0 ? [[['times', 'min'], 'must be at least 1, or the check could never hold']] : [];
  }
  if (max === undefined)
    return min === 0 ? [[['times', 'min'], 'must be at least 1, or the check could never fail']] : [];
  return (min ?? 1) > max ? [[['times', 'max'], `must not be less than times.min (${min ?? 1})`]] : [];
}

function endViolations({ by, code, withinMs }: EndsBySpec, definition: PartialDefinition): Found[] {
  const codes: readonly string[] = ENDED_BY[by];
  return [
    ...(code === undefined || codes.includes(code)
      ? []
      : [[['code'], `must be one of ${codes.join(', ')} for an end by the ${by}`] as const]),
    ...(withinMs === undefined
      ? []
      : timeViolations(withinMs, definition).map(([, text]) => [['withinMs'], text] as const)),
  ];
}

function ratioViolations({ min = 0, max = 1 }: TalkRatioSpec): Found[] {
  if (min > max) return [[['max'], `must not be less than min (${min})`]];
  return min === 0 && max === 1 ? [[[], 'could never fail: limit min or max']] : [];
}

const sourceViolations = (field: string, sources: readonly ValueSource[]): Found[] =>
  sources.flatMap((source, index) =>
    groupViolations(source).map(([path, text]): Found => [[field, index, ...path], text]),
  );

/** Invalid patterns have a violation of their own. */
function groupViolations(source: ValueSource): Found[] {
  if (!('pattern' in source)) return [];
  const names = groupNames(source.pattern);
  if (source.group !== undefined) {
    return names.includes(source.group) ? [] : [[['group'], 'is not the name of a group of the pattern']];
  }
  if (names.length === 0) return [[['pattern'], 'must have a named group, as in (?P<price>[0-9]+)']];
  return names.length === 1 ? [] : [[['group'], `is required: the pattern has the groups ${names.join(', ')}`]];
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
    const effect = check.type === 'never_says' && isOwn ? 'fail' : 'hold';
    const field = isOwn ? [matcherField(event)] : steps;
    const isCertain = depth === 0 && (isOwn || !check.type.startsWith('never_'));
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

function atLeast(field: string, limit: number, cut: number | undefined, name: string): Found[] {
  if (cut === undefined || limit < cut) return [];
  return [[[field], `must be less than ${name} (${cut}), or the check could never fail`]];
}

function timeViolations(ms: number, { maxDurationSeconds }: PartialDefinition): Found[] {
  if (maxDurationSeconds === undefined || ms < maxDurationSeconds * 1000) return [];
  return [[['ms'], `must be less than maxDurationSeconds (${maxDurationSeconds}), or the check could never fail`]];
}

function percentileViolations(percentile: number, { script, maxTurns }: PartialDefinition): Found[] {
  if (percentile < 90 || percentile === 100) return [];
  const scripted = mostTurns(script);
  if (maxTurns !== undefined && maxTurns < MIN_TURNS_FOR_PERCENTILES) {
    return [
      [
        ['percentile'],
        `${percentile} requires at least ${MIN_TURNS_FOR_PERCENTILES} turns, but maxTurns is ${maxTurns}`,
      ],
    ];
  }
  if (scripted !== undefined && scripted < MIN_TURNS_FOR_PERCENTILES) {
    return [
      [
        ['percentile'],
        `${percentile} requires at least ${MIN_TURNS_FOR_PERCENTILES} turns, but script has ${scripted}`,
      ],
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
    case 'never_says': {
      const { turn, after, before, times } = check;
      return `${kind} ${identity(check)} ${canonical({ turn, after, before, times })}`;
    }
    case 'says_before':
      return `${kind} ${identity(check.first)} ${identity(check.then)}`;
    case 'ends_by':
      return `${kind} ${canonical({ code: check.code, withinMs: check.withinMs })}`;
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
  const given = Object.entries(value).filter(([, entry]) => entry !== undefined);
  const entries = given.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, entry]) => `${JSON.stringify(name)}:${canonical(entry)}`).join(',')}}`;
}
