import { parseArguments, truncate } from '../../timeline/text.js';
import type { PlatformEntry, SoundEntry, SpeechEntry, TimelineEntry, ToolCallEntry } from '../../timeline/timeline.js';
import type { CallerAct, PlatformEvent, Span, ToolCallFact, VoiceFacts } from '../facts/facts.js';
import { contains } from '../facts/spans.js';
import { promptedByWait } from '../measures/index.js';
import { speechOf } from '../words/speech.js';
import { generatedOtherwise } from '../words/generated.js';
import { type SoundWords, textOf, wordsOfSounds } from '../words/utterances.js';

/** A document of TwiML may have thousands of verbs. */
const MAX_NOTES = 100;

/**
 * Entries of the timeline of a voice call, in order of their start, without the entry of type `end`. Times are as heard. The agent's
 * words are known if the platform reports them or a transcription server heard them.
 */
export function voiceEntries(facts: VoiceFacts): TimelineEntry[] {
  const { caller, silences, toolCalls, wireFindings, platformEvents, end } = facts;
  const prompted = promptedByWait(facts);
  const generated = generatedOtherwise(facts);
  const turnAt = (atMs: number) => caller.findLast((act) => act.type === 'say' && act.startMs <= atMs)?.turn ?? 0;
  const entries: TimelineEntry[] = [
    ...caller.map((act) => entryOf(act, facts)),
    ...wordsOfSounds(facts).map((spoken, index, all): SpeechEntry => {
      const { sound } = spoken;
      const isCut = sound.endMs >= end.atMs;
      const isFirst = all.findIndex((other) => other.sound.turn === sound.turn) === index;
      const other = isFirst ? generated.get(sound.turn) : undefined;
      return {
        type: 'speech',
        speaker: 'agent',
        ...speechOf(spoken, all[index - 1]),
        ...unheardOf(spoken, facts),
        ...timesOf(sound),
        turn: sound.turn,
        ...(prompted.has(sound) && { promptedByWait: true as const }),
        ...cutIf(isCut),
        ...(other !== undefined && { alternative: { source: 'wire' as const, text: other } }),
      };
    }),
    ...toolCalls.map((call) => toolEntryOf(call, turnAt(call.atMs))),
    ...silences.map(({ of, turn, ...span }) => ({ type: 'silence', of, ...timesOf(span), turn }) as const),
    ...wireFindings.map(({ code, severity, detail, atMs }) => {
      const at = tenth(atMs ?? 0);
      const what = { code, severity, detail };
      return { type: 'finding', ...what, start: at, end: at, turn: turnAt(at) } as const;
    }),
    ...platformEvents.filter(isShown).map(({ type, detail, atMs }) => {
      const at = tenth(atMs);
      const what = { event: type, detail };
      return { type: 'platform', ...what, start: at, end: at, turn: turnAt(at) } as const;
    }),
  ];
  return entries.sort((a, b) => a.start - b.start);
}

type ShownEvent = PlatformEvent & { readonly type: PlatformEntry['event'] };

/** A hang-up by the platform is not shown, since the end of the call says so. */
const isShown = (event: PlatformEvent, index: number): event is ShownEvent =>
  event.type === 'transfer' || (event.type === 'note' && index < MAX_NOTES);

export function toolEntryOf(fact: ToolCallFact, turn: number): ToolCallEntry {
  const { atMs, name, json, reportedJson = json, result, answeredMs = atMs, reported } = fact;
  const args = reportedJson === null ? null : parseArguments(reportedJson);
  const isRaw = args === null || reportedJson !== json;
  return {
    type: 'tool_call',
    name: truncate(name, 255),
    arguments: args,
    ...(isRaw && json !== null && { rawArguments: truncate(json, 2_000) }),
    ...(result !== undefined && { result }),
    ...(reported && { reported }),
    start: tenth(atMs),
    end: tenth(answeredMs),
    turn,
  };
}

/** How the platform understood a line: its reports until the next line. */
function understood({ heardCaller, caller }: VoiceFacts, { startMs }: Span): Pick<SpeechEntry, 'alternative'> {
  const next = caller.find((act) => act.type === 'say' && act.startMs > startMs)?.startMs ?? Infinity;
  const texts = heardCaller.filter(({ atMs }) => atMs >= startMs && atMs < next).map(({ text }) => text);
  return texts.length === 0 ? {} : { alternative: { source: 'wire', text: texts.join(' ') } };
}

/** Audio that the agent had ready when the caller interrupted it of its own accord. */
function unheardOf({ sound, runs }: SoundWords, { caller }: VoiceFacts): Pick<SpeechEntry, 'unheard'> {
  const isInterruption = (act: CallerAct) => act.type === 'say' && act.bargeIn !== undefined && act.step === null;
  const line = caller.find((act) => isInterruption(act) && contains(sound, act.startMs));
  const unheard = line ? textOf(runs.at(-1)?.unheard ?? []) : '';
  return unheard === '' ? {} : { unheard };
}

function entryOf(act: CallerAct, facts: VoiceFacts): SpeechEntry | SoundEntry {
  const place = { ...timesOf(act), turn: act.turn };
  if (act.type === 'say') {
    const { text, step, source, repeated, bargeIn, endMs, hasUnknownWords } = act;
    return {
      type: 'speech',
      speaker: 'caller',
      text,
      ...(hasUnknownWords && { words: 'unknown' as const }),
      ...place,
      ...(step !== null && { script: { step, ...source, ...(repeated && { repeated }) } }),
      ...(bargeIn && { bargeIn: { afterMs: bargeIn.afterMs, possible: bargeIn.possible } }),
      ...cutIf(endMs >= facts.end.atMs),
      ...understood(facts, act),
    };
  }
  const isPress = act.type === 'press';
  return {
    type: 'sound',
    speaker: 'caller',
    kind: isPress ? 'keys' : act.type,
    name: isPress ? act.keys : act.name,
    possible: isPress || act.possible,
    ...place,
    ...(act.step !== null && { script: { step: act.step } }),
  };
}

const cutIf = (isCut: boolean): Pick<SpeechEntry, 'cut'> => (isCut ? { cut: true } : {});

const timesOf = ({ startMs, endMs }: Span) => ({ start: tenth(startMs), end: tenth(endMs) });

const tenth = (ms: number): number => Math.round(ms * 10) / 10;
