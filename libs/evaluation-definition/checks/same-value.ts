import { clipped } from '../../text/index.js';
import type { SameValueSpec, UnderstoodSpec, ValueSource } from '../definition/definition.js';
import { ref } from '../definition/json-schema.js';
import { LIMITS } from '../definition/limits.js';
import { groupNames } from '../matching/pattern.js';
import { list, needsOfEvent, PLAIN, quoteOf } from './common.js';
import type { EventPart, Found, Kinds } from './kind.js';
import { check } from './parts-schema.js';

const VALUES = {
  ...PLAIN,
  notInRecording: null,
};

const kind = {
  type: 'string',
  description:
    'What the values are: the letters of a name count. Without it, different words that no table of numbers, money, times, dates or spelling reads leave the check undecided, because they may be other words for the same',
  enum: ['name'],
} as const;

export const SAME_VALUE = {
  same_value: {
    ...VALUES,
    schema: check(
      'Same value',
      'All sources hold the same value: "forty-five euros" equals "€45", "2:35 pm" equals 14:35, "Q X 7" equals QX7.',
      {
        sources: {
          type: 'array',
          description: 'Where the values come from',
          items: ref('ValueSource'),
          minItems: 2,
          maxItems: LIMITS.sources,
        },
        kind,
      },
      ['sources'],
    ),
    needs: ({ sources }) => needsOfSources(sources),
    describe: ({ sources }) => `the same value: ${list(sources.map(sourceText), '; ')}`,
    violations: ({ sources }) => sourceViolations('sources', sources),
    events: ({ sources }) => eventsOf('sources', sources),
  },
} satisfies Pick<Kinds, SameValueSpec['type']>;

export const UNDERSTOOD = {
  understood: {
    ...VALUES,
    schema: check(
      'Understood',
      'What the caller said arrives in the arguments of tools: all values are the same, compared as `same_value` does.',
      {
        values: {
          type: 'array',
          description: 'Where the values come from; at least one is an argument of a tool',
          items: ref('ValueSource'),
          minItems: 2,
          maxItems: LIMITS.sources,
          examples: [[{ value: 'Rossi' }, { tool: 'book_table', argument: 'name' }]],
        },
        kind,
      },
      ['values'],
    ),
    needs: ({ values }) => needsOfSources(values),
    describe: ({ values }) => `understood, the same value: ${list(values.map(sourceText), '; ')}`,
    violations: ({ values }) => [...sourceViolations('values', values), ...understoodViolations(values)],
    events: ({ values }) => eventsOf('values', values),
  },
} satisfies Pick<Kinds, UnderstoodSpec['type']>;

const needsOfSources = (sources: readonly ValueSource[]) =>
  sources.flatMap((source) => ('value' in source ? [] : needsOfEvent(source)));

const eventsOf = (field: string, sources: readonly ValueSource[]): EventPart[] =>
  sources.flatMap((source, index) => ('value' in source ? [] : [[[field, index], source] as const]));

function sourceText(source: ValueSource): string {
  if ('value' in source) return clipped(JSON.stringify(source.value), 80);
  if ('pattern' in source) return `${source.group ?? 'value'} in ${source.speaker}'s words ${quoteOf(source)}`;
  return source.argument === undefined
    ? `result ${source.result} of ${source.tool}`
    : `argument ${source.argument} of ${source.tool}`;
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

function understoodViolations(values: readonly ValueSource[]): Found[] {
  const isArgument = (source: ValueSource) => 'tool' in source && source.argument !== undefined;
  const isSaid = (source: ValueSource) => 'value' in source || ('pattern' in source && source.speaker === 'caller');
  return [
    ...(values.some(isArgument) ? [] : [[['values'], 'must have an argument of a tool: what was understood'] as const]),
    ...(values.some(isSaid)
      ? []
      : [[['values'], "must have what the caller said: a value, or a pattern in the caller's words"] as const]),
  ];
}
