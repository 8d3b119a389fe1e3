import type { VoiceFacts } from './facts.js';

/** Whether the caller made a sound at a moment, or at most `withinMs` before. Sounds that were left out made none. */
export const hadCallerSound = ({ caller }: Pick<VoiceFacts, 'caller'>, atMs: number, withinMs: number): boolean =>
  caller
    .filter((act) => act.type === 'say' || act.type === 'press' || act.possible)
    .some(({ startMs, endMs }) => startMs <= atMs && endMs >= atMs - withinMs);
