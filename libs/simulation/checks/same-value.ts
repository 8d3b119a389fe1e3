import {
  compilePattern,
  groupNames,
  type SameValueSpec,
  type SpokenValue,
  type ToolValue,
  type UnderstoodSpec,
  type ValueSource,
} from '../../evaluation-definition/index.js';
import type { Evidence } from '../timeline/evidence.js';
import { firstUnknown } from '../timeline/known-words.js';
import { isStorable, truncate } from '../timeline/text.js';
import { compareValues, type ValueKind } from '../values/same-value.js';
import { type Finding, undecided } from './check-result.js';
import { never } from './happens.js';
import type { Leaves } from './kind.js';
import { argumentsOf, type EventFinder, known, type Occurrence } from './occurrences.js';

interface Held {
  readonly value: unknown;
  /** A clause without the value: `the agent said`. */
  readonly who: string;
  readonly evidence: readonly Evidence[];
}

export const SAME_VALUE = {
  same_value: {
    evaluate: ({ sources, kind }, finder) => holdSameValue(sources, kind, finder),
    couldChange: ({ sources, kind }, finding, finder) => couldChange(sources, kind, finding, finder),
  },
  understood: {
    evaluate: ({ values, kind }, finder) => holdSameValue(values, kind, finder),
    couldChange: ({ values, kind }, finding, finder) => couldChange(values, kind, finding, finder),
  },
} satisfies Pick<Leaves, (SameValueSpec | UnderstoodSpec)['type']>;

async function couldChange(
  sources: readonly ValueSource[],
  kind: ValueKind,
  { evidence }: Finding,
  finder: EventFinder,
): Promise<boolean> {
  const others = sources.filter((source) => 'value' in source || 'tool' in source || source.speaker === 'caller');
  if (others.length > 0 && (await holdSameValue(others, kind, finder)).met === false) return false;
  const held = sources.flatMap((source) => ('value' in source ? [] : [source]));
  const areFirst = held.every(({ occurrence }) => occurrence === 'first');
  const isBeforeAll = evidence.every(({ entry }) => entry < firstUnknown(finder.view));
  return !(areFirst && evidence.length === held.length && isBeforeAll);
}

/** Whether all sources hold the same value; undecided if two values are not understood well enough to be compared. */
async function holdSameValue(sources: readonly ValueSource[], kind: ValueKind, finder: EventFinder): Promise<Finding> {
  const held: Held[] = [];
  const missing: string[] = [];
  for (const source of sources) {
    const found = await valueOf(source, finder);
    if (typeof found === 'string') missing.push(found);
    else held.push(found);
  }
  const evidence = held.flatMap((each) => each.evidence);
  if (missing.length > 0) return { met: false, detail: missing.join('; '), evidence };
  const compared = (as: ValueKind) =>
    held.flatMap((one, index) => held.slice(0, index).map((other) => compareValues(other.value, one.value, as)));
  const pairs = compared(kind);
  const texts = held.map(({ who, value }) => `${who} ${truncate(JSON.stringify(value), 80)}`).join(', ');
  if (pairs.includes('different')) return { met: false, detail: `Not the same value: ${texts}`, evidence };
  if (!pairs.includes('unknown')) return { met: true, detail: `The same value: ${texts}`, evidence };
  // Spoken values are ambiguous, and not all forms are known: that is not the agent's fault.
  const cure = compared('name').includes('unknown') ? '' : ': with kind: name, other letters are another value';
  return undecided(`Whether this is the same value is not known: ${texts}${cure}`, evidence);
}

/** @returns a clause when there is no value */
async function valueOf(source: ValueSource, finder: EventFinder): Promise<Held | string> {
  if ('value' in source) return { value: source.value, who: 'wanted', evidence: [] };
  return 'tool' in source ? toolValue(source, finder) : spokenValue(source, finder);
}

async function spokenValue(source: SpokenValue, finder: EventFinder): Promise<Held | string> {
  const { pattern, speaker, occurrence } = source;
  const found = await chosen(finder.occurrences({ pattern, speaker }), occurrence);
  if (!found?.match) return never({ pattern, speaker });
  const name = source.group ?? groupNames(pattern)[0]!;
  const value = compilePattern(pattern).group(found.match.text, name, found.match.position);
  if (value === undefined) return `The ${speaker} said "${truncate(found.evidence.quote, 120)}" without a ${name}`;
  return { value, who: `the ${speaker} said`, evidence: [found.evidence] };
}

async function toolValue(
  { tool, argument, result, occurrence }: ToolValue,
  finder: EventFinder,
): Promise<Held | string> {
  const found = await chosen(finder.occurrences({ tool }), occurrence);
  const entry = found && finder.view.toolCalls.find(({ index }) => index === found.evidence.entry)?.entry;
  if (!entry) return never({ tool });
  const path = argument ?? result ?? '';
  const root: unknown = argument === undefined ? entry.result : argumentsOf(entry);
  const value = valueAt(root, path);
  const what = argument === undefined ? 'result' : 'argument';
  if (value === undefined || value === null) return `The ${what} ${path} of ${tool} was missing`;
  return { value, who: `${tool} had the ${what} ${path}`, evidence: [found.evidence] };
}

async function chosen(
  occurrences: AsyncGenerator<Occurrence, undefined>,
  which: 'first' | 'last',
): Promise<Occurrence | undefined> {
  let found: Occurrence | undefined;
  for await (const occurrence of occurrences) {
    found = occurrence;
    if (which === 'first') break;
  }
  return known(found);
}

/** The value at a path such as `guest.name` or `items[0].price`. */
function valueAt(root: unknown, path: string): unknown {
  let node = parsed(root);
  for (const step of path.split(/[.[\]]+/).filter((part) => part !== '')) {
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, step)) return undefined;
    node = (node as Readonly<Record<string, unknown>>)[step];
  }
  return node;
}

/** Results of tools may be JSON in a text. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    const found = JSON.parse(value) as unknown;
    return isStorable(found) ? found : value;
  } catch {
    return value;
  }
}
