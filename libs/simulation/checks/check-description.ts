import {
  type EndsBySpec,
  type EventMatcher,
  type HearsKeysSpec,
  isLanguageTag,
  languageName,
  type Matcher,
  type NestedCheck,
  type Placement,
  type SaysSpec,
  type TalkRatioSpec,
  type ToolSpec,
  type ValueSource,
} from '../../evaluation-definition/index.js';
import { truncate } from '../timeline/text.js';
import { voiceCheckText } from './voice-check-description.js';

/** A matcher as shown in sentences. */
export const quoteOf = (matcher: Matcher): string =>
  'pattern' in matcher ? `/${truncate(matcher.pattern, 120)}/` : `"${truncate(matcher.text, 120)}"`;

/** A clause: `agent says "…"`, `agent calls book_table`. */
function eventText(event: EventMatcher, never = false): string {
  if (!('tool' in event)) return `${event.speaker} ${never ? 'never says' : 'says'} ${quoteOf(event)}`;
  const args = event.arguments ? ` with ${truncate(JSON.stringify(event.arguments), 120)}` : '';
  const schema = event.argumentsSchema ? `${args === '' ? ' with' : ' and'} arguments that fit the schema` : '';
  return `agent ${never ? 'never calls' : 'calls'} ${event.tool}${args}${schema}`;
}

function placementText({ after, before, times }: Placement): string {
  const often = times ? `, ${timesText(times)}` : '';
  return `${after ? ` after ${eventText(after)}` : ''}${before ? ` before ${eventText(before)}` : ''}${often}`;
}

function timesText({ min, max }: NonNullable<Placement['times']>): string {
  if (max === undefined) return `${min} times or more`;
  return (min ?? 1) === max ? (max === 1 ? 'exactly once' : `exactly ${max} times`) : `${min ?? 1} to ${max} times`;
}

function happens(check: SaysSpec | ToolSpec): string {
  const turn = 'tool' in check ? undefined : check.turn;
  const where = turn === undefined ? '' : typeof turn === 'number' ? ` in turn ${turn}` : ` in the ${turn} turn`;
  return `${eventText(check, check.type.startsWith('never_'))}${where}${placementText(check)}`;
}

const MAX_LISTED = 5;

function list(texts: readonly string[], separator: string): string {
  const more = texts.length - MAX_LISTED;
  return `${texts.slice(0, MAX_LISTED).join(separator)}${more > 0 ? `${separator}${more} more` : ''}`;
}

/** Describes a check that has no name. */
export const describeCheck = (check: NestedCheck): string => capital(text(check));

function text(check: NestedCheck): string {
  switch (check.type) {
    case 'says':
    case 'never_says':
    case 'calls_tool':
    case 'never_calls_tool':
      return happens(check);
    case 'in_order':
      return `in this order: ${list(
        check.events.map((event) => eventText(event)),
        ', then ',
      )}`;
    case 'says_before':
      return `${eventText(check.first)} before ${eventText(check.then)}`;
    case 'any_of':
      return `at least one of: ${list(check.checks.map(nested), '; ')}`;
    case 'all_of':
      return `all of: ${list(check.checks.map(nested), '; ')}`;
    case 'not':
      return `not: ${nested(check.check)}`;
    case 'when':
      return `if ${nested(check.if)}, then ${nested(check.then)}`;
    case 'ends_by':
      return endText(check);
    case 'same_value':
      return `the same value: ${list(check.sources.map(sourceText), '; ')}`;
    case 'max_answer_words':
      return `no answer has more than ${check.words} words`;
    case 'talk_ratio':
      return `the agent says ${ratioText(check)} of all words`;
    case 'language':
      return `the agent answers in ${isLanguageTag(check.language) ? languageName(check.language) : check.language}`;
    case 'speakable':
      return 'the agent says nothing that a voice would stumble over';
    case 'no_personal_data':
      return `${check.speaker} says no personal data${check.kinds ? ` (${check.kinds.join(', ')})` : ''}`;
    case 'max_time_to_first_word_ms':
      return `the agent says its first word within ${check.ms} ms`;
    case 'max_pause_ms':
      return `no pause inside an answer longer than ${check.ms} ms`;
    case 'max_turns':
      return `at most ${check.turns} turns`;
    case 'max_duration_ms':
      return `lasts at most ${check.ms} ms`;
    case 'max_latency_ms':
      return check.percentile === 100
        ? `every answer starts within ${check.ms} ms`
        : `${check.percentile} % of the answers start within ${check.ms} ms`;
    case 'max_silence_ms':
      return `no silence longer than ${check.ms} ms`;
    case 'understood':
      return `understood, the same value: ${list(check.values.map(sourceText), '; ')}`;
    case 'hears_keys':
      return `after the keys ${check.keys}, ${reactionText(check.then)}`;
    default:
      return voiceCheckText(check);
  }
}

function reactionText(then: HearsKeysSpec['then']): string {
  if (then === undefined) return 'agent says something or transfers the call';
  if (!('transfer' in then)) return eventText(then);
  return `agent transfers the call${then.transfer === true ? '' : ` to "${truncate(then.transfer, 120)}"`}`;
}

function endText({ by, code, withinMs }: EndsBySpec): string {
  const how = code === undefined ? '' : ` (${code})`;
  return `the ${by} ends the call${how}${withinMs === undefined ? '' : ` within ${withinMs} ms of the goodbye`}`;
}

function ratioText({ min, max }: TalkRatioSpec): string {
  if (min === undefined) return `at most ${max}`;
  return max === undefined ? `at least ${min}` : `${min} to ${max}`;
}

function sourceText(source: ValueSource): string {
  if ('value' in source) return truncate(JSON.stringify(source.value), 80);
  if ('pattern' in source) return `${source.group ?? 'value'} in ${source.speaker}'s words ${quoteOf(source)}`;
  return source.argument === undefined
    ? `result ${source.result} of ${source.tool}`
    : `argument ${source.argument} of ${source.tool}`;
}

const nested = (check: NestedCheck): string => truncate(check.name ?? text(check), 200);

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
