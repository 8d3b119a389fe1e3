import type {
  CheckType,
  EventMatcher,
  NestedCheck,
  Placement,
  ValueSource,
} from '../../evaluation-definition/index.js';

/** What a check needs beside the times of a call: words or tool calls of the agent, or a voice call. */
export type Need = 'words' | 'toolCalls' | 'voice';

const NOTHING: readonly Need[] = [];
const WORDS: readonly Need[] = ['words'];
const VOICE: readonly Need[] = ['voice'];

/** Several types may share one shape. */
type OfType<T extends CheckType, C = NestedCheck> = C extends { readonly type: infer U }
  ? T extends U
    ? C
    : never
  : never;

/** What each type of check needs. A type without an entry does not compile. */
const NEEDS: { readonly [T in CheckType]: (check: OfType<T>) => readonly Need[] } = {
  says: ofEventAndPlace,
  never_says: ofEventAndPlace,
  calls_tool: ofEventAndPlace,
  never_calls_tool: ofEventAndPlace,
  in_order: ({ events }) => events.flatMap(ofEvent),
  says_before: ({ first, then }) => [...ofEvent(first), ...ofEvent(then)],
  same_value: ({ sources }) => sources.flatMap(ofSource),
  understood: ({ values }) => values.flatMap(ofSource),
  any_of: ({ checks }) => checks.flatMap(needsOf),
  all_of: ({ checks }) => checks.flatMap(needsOf),
  not: ({ check }) => needsOf(check),
  when: ({ if: condition, then }) => [...needsOf(condition), ...needsOf(then)],
  // The goodbye is found in the words of both sides.
  ends_by: ({ withinMs }) => (withinMs === undefined ? NOTHING : WORDS),
  max_turns: () => NOTHING,
  max_latency_ms: () => NOTHING,
  max_duration_ms: () => NOTHING,
  max_silence_ms: () => NOTHING,
  max_time_to_first_word_ms: () => NOTHING,
  max_pause_ms: () => NOTHING,
  max_answer_words: () => WORDS,
  talk_ratio: () => WORDS,
  language: () => WORDS,
  speakable: () => WORDS,
  no_personal_data: ({ speaker }) => (speaker === 'caller' ? NOTHING : WORDS),
  yields_within_ms: () => VOICE,
  keeps_speaking: () => VOICE,
  max_interruptions: () => VOICE,
  max_overlap_ms: () => VOICE,
  speaking_rate: () => ['voice', 'words'],
  audio_level: () => VOICE,
  max_choppiness: () => VOICE,
  clean_protocol: () => VOICE,
  hears_keys: ({ then }) => [...VOICE, ...(then === undefined || 'transfer' in then ? NOTHING : ofEvent(then))],
};

/** What a check and those inside it need, each need once. */
export function needsOf(check: NestedCheck): Need[] {
  const needs = NEEDS[check.type] as (check: NestedCheck) => readonly Need[];
  return [...new Set(needs(check))];
}

/** Checks of how the agent speaks, reacts and transmits, whatever the caller says. */
const OF_AGENT_ALONE: ReadonlySet<CheckType> = new Set([
  ...(['max_latency_ms', 'max_silence_ms', 'max_time_to_first_word_ms', 'max_pause_ms', 'max_answer_words'] as const),
  ...(['language', 'speakable', 'no_personal_data', 'speaking_rate', 'audio_level', 'max_choppiness'] as const),
  ...(['yields_within_ms', 'keeps_speaking', 'max_interruptions', 'max_overlap_ms', 'clean_protocol'] as const),
]);

/** Whether an agent may fail a check because the caller misunderstood it, and said or did something else. */
export const dependsOnCaller = ({ type }: NestedCheck): boolean => !OF_AGENT_ALONE.has(type);

function ofEventAndPlace(check: EventMatcher & Placement): Need[] {
  const { after, before } = check;
  return [...ofEvent(check), ...(after ? ofEvent(after) : []), ...(before ? ofEvent(before) : [])];
}

function ofEvent(event: EventMatcher): readonly Need[] {
  if ('tool' in event) return ['toolCalls'];
  // The words of a caller that can be run over such a protocol are those of its script.
  return event.speaker === 'caller' ? NOTHING : WORDS;
}

const ofSource = (source: ValueSource): readonly Need[] => ('value' in source ? NOTHING : ofEvent(source));
