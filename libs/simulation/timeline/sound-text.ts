import type { PlatformEntry, SoundEntry, SpeechEntry } from './timeline.js';

const LEFT_OUT = ', which was not possible';

/** A sound of the caller as a sentence without full stop, for people and for the judge. */
export function soundText({ kind, name, possible }: SoundEntry): string {
  const what = {
    backchannel: `The caller says "${name}" without taking the turn`,
    filler: `The caller says "${name}" while it thinks`,
    noise: `Noise on the caller's side: ${name}`,
    keys: `The caller presses ${name}`,
  }[kind];
  return possible ? what : `${what}${LEFT_OUT}`;
}

const MISSING: Readonly<Partial<Record<NonNullable<SpeechEntry['words']>, string>>> = {
  unknown: '(words not known)',
  partly: '(other words not known)',
  deleted: '(words deleted)',
  withheld: '(words not shown)',
};

/** What was heard of one side in its own words, and what is missing of it in brackets. */
export function heardText({ text, words, interrupted }: SpeechEntry): string {
  return [text, (words && MISSING[words]) ?? '', interrupted ? '(broken off)' : '']
    .filter((part) => part !== '')
    .join(' ');
}

/** How a line was to be spoken over the agent, as a clause. */
export const bargeInText = ({ afterMs, possible }: NonNullable<SpeechEntry['bargeIn']>): string =>
  `barge-in after ${afterMs} ms${possible ? '' : LEFT_OUT}`;

/** What the agent asked its platform to do, as a sentence. */
export const platformText = ({ event, detail }: PlatformEntry): string =>
  event === 'transfer' ? `The agent transfers the call${detail && ` to ${detail}`}` : `Platform: ${detail}`;
