import { clipped } from '../../text/index.js';
import { canonical } from '../definition/canonical.js';
import type {
  EventMatcher,
  Matcher,
  NestedCheck,
  PartialDefinition,
  Placement,
  SpokenMatcher,
} from '../definition/definition.js';
import { fold } from '../matching/matcher.js';
import type { CheckKind, EventPart, Found, Need, Subject } from './kind.js';

/**
 * A check without other checks or events in it, with any values that the schema allows, that requires something of a conversation
 * and quotes it.
 */
export const PLAIN = {
  violations: () => [],
  isProhibition: () => false,
  subject: ownFields,
  parts: () => [],
  events: () => [],
  acts: () => [],
  ofAgentAlone: false,
  keepsDetail: false,
} satisfies Partial<CheckKind<NestedCheck>>;

/** Subject of a check that asks the same only with the same values. @param about type that stands for its opposite, too */
export function ownFields(check: NestedCheck, about: string = check.type): Subject {
  const { name: _name, type, ...own } = check;
  const { weight: _weight, required: _required, ...fields } = own as Partial<Record<'weight' | 'required', unknown>>;
  return [`${about} ${canonical(fields)}`, type];
}

/** Equal for matchers that find the same words. */
export const identity = (matcher: SpokenMatcher): string =>
  JSON.stringify([
    matcher.speaker,
    'pattern' in matcher ? { pattern: matcher.pattern } : [fold(matcher.text), matcher.partOfWord ?? false],
  ]);

export function needsOfEvent(event: EventMatcher): readonly Need[] {
  if ('tool' in event) return ['toolCalls'];
  // The words of a caller that can be run over such a protocol are those of its script.
  return event.speaker === 'caller' ? [] : ['words'];
}

/** A time that no call can exceed. */
export function neverExceeded(ms: number, { maxDurationSeconds }: PartialDefinition, field = 'ms'): Found[] {
  if (maxDurationSeconds === undefined || ms < maxDurationSeconds * 1000) return [];
  return [[[field], `must be less than maxDurationSeconds (${maxDurationSeconds}), or the check could never fail`]];
}

/** Limits in the wrong order. */
export function reversed([least, min]: readonly [string, number?], [most, max]: readonly [string, number?]): Found[] {
  if (min === undefined || max === undefined || min <= max) return [];
  return [[[most], `must not be less than ${least} (${min})`]];
}

/** Characters of a value of the user in a description. */
const MAX_TEXT = 120;

export const shown = (text: string): string => clipped(text, MAX_TEXT);

/** A matcher as shown in sentences. */
export const quoteOf = (matcher: Matcher): string =>
  'pattern' in matcher ? `/${shown(matcher.pattern)}/` : `"${shown(matcher.text)}"`;

/** A clause: `agent says "…"`, `agent calls book_table`. */
export function eventText(event: EventMatcher, never = false): string {
  if (!('tool' in event)) return `${event.speaker} ${never ? 'never says' : 'says'} ${quoteOf(event)}`;
  const args = event.arguments ? ` with ${shown(JSON.stringify(event.arguments))}` : '';
  const schema = event.argumentsSchema ? `${args === '' ? ' with' : ' and'} arguments that fit the schema` : '';
  return `agent ${never ? 'never calls' : 'calls'} ${event.tool}${args}${schema}`;
}

/** `at most 3`, `at least 2`, `2 to 3`. */
export function rangeText(min: number | undefined, max: number | undefined): string {
  if (min === undefined) return `at most ${max}`;
  return max === undefined ? `at least ${min}` : `${min} to ${max}`;
}

type Anchors = Pick<Placement, 'after' | 'before'>;

/** The events between which something counts. */
export const anchorsOf = ({ after, before }: Anchors): EventPart[] => [
  ...(after ? [[['after'], after] as const] : []),
  ...(before ? [[['before'], before] as const] : []),
];

export const anchorText = ({ after, before }: Anchors): string =>
  `${after ? ` after ${eventText(after)}` : ''}${before ? ` before ${eventText(before)}` : ''}`;

const MAX_LISTED = 5;

export function list(texts: readonly string[], separator: string): string {
  const more = texts.length - MAX_LISTED;
  return `${texts.slice(0, MAX_LISTED).join(separator)}${more > 0 ? `${separator}${more} more` : ''}`;
}
