import { sanitizeText } from '../text.js';
import type { PlatformEntry, SoundEntry, SpeechEntry, TimelineEntry } from '../timeline.js';
import type { CallerAct, PlatformEvent, Span, VoiceFacts } from './facts.js';

/** A document of TwiML may have thousands of verbs. */
const MAX_NOTES = 100;

/**
 * What happened on a call with sound as entries of its timeline, in order of their start and without its end. Times are
 * heard times. The agent's words are not known from its sound.
 */
export function voiceEntries(facts: VoiceFacts): TimelineEntry[] {
  const { caller, agent, silences, wireFindings, platformEvents, end } = facts;
  const turnAt = (atMs: number) => caller.findLast((act) => act.type === 'say' && act.startMs <= atMs)?.turn ?? 0;
  const entries: TimelineEntry[] = [
    ...caller.map((act) => entryOf(act, end.atMs)),
    ...agent.map((sound): SpeechEntry => {
      const isCut = sound.endMs >= end.atMs;
      const words = { text: '', words: 'unknown' } as const;
      return { type: 'speech', speaker: 'agent', ...words, ...timesOf(sound), turn: sound.turn, ...cutIf(isCut) };
    }),
    ...silences.map(({ of, turn, ...span }) => ({ type: 'silence', of, ...timesOf(span), turn }) as const),
    ...wireFindings.map(({ code, severity, detail, atMs }) => {
      const at = tenth(atMs ?? 0);
      const what = { code, severity, detail: sanitizeText(detail) };
      return { type: 'finding', ...what, start: at, end: at, turn: turnAt(at) } as const;
    }),
    ...platformEvents.filter(isShown).map(({ type, detail, atMs }) => {
      const at = tenth(atMs);
      const what = { event: type, detail: sanitizeText(detail) };
      return { type: 'platform', ...what, start: at, end: at, turn: turnAt(at) } as const;
    }),
  ];
  return entries.sort((a, b) => a.start - b.start);
}

type ShownEvent = PlatformEvent & { readonly type: PlatformEntry['event'] };

/** The end of the call says that the platform hung up. */
const isShown = (event: PlatformEvent, index: number): event is ShownEvent =>
  event.type === 'transfer' || (event.type === 'note' && index < MAX_NOTES);

function entryOf(act: CallerAct, callEndMs: number): SpeechEntry | SoundEntry {
  const place = { ...timesOf(act), turn: act.turn };
  if (act.type === 'say') {
    const { text, step, repeated, bargeIn, endMs } = act;
    return {
      type: 'speech',
      speaker: 'caller',
      text: sanitizeText(text),
      ...place,
      script: { step, ...(repeated && { repeated }) },
      ...(bargeIn && { bargeIn: { afterMs: bargeIn.afterMs, possible: bargeIn.possible } }),
      ...cutIf(endMs >= callEndMs),
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
    script: { step: act.step },
  };
}

const cutIf = (isCut: boolean): Pick<SpeechEntry, 'cut'> => (isCut ? { cut: true } : {});

const timesOf = ({ startMs, endMs }: Span) => ({ start: tenth(startMs), end: tenth(endMs) });

const tenth = (ms: number): number => Math.round(ms * 10) / 10;
