import { failedBy, type Finding } from '../../checks/check-result.js';
import type { TimelineEntry } from '../../timeline/timeline.js';

/** The event that a check is about did not happen on this call, so it proves nothing. */
export const notExercised = (detail: string): Finding => ({
  met: null,
  detail,
  evidence: [],
  undecided: 'not_exercised',
});

/** Evidence pointing at the entry of this kind that starts at `atMs`; empty if there is none. */
export function at(
  entries: readonly TimelineEntry[],
  isKind: (entry: TimelineEntry) => boolean,
  atMs: number,
): Finding['evidence'] {
  const entry = entries.findIndex((one) => isKind(one) && Math.abs(one.start - atMs) < 1);
  return entry === -1 ? [] : [{ entry, quote: '' }];
}

const MAX_MOMENTS = 5;

/** Evidence at the agent's sounds in which moments lie, each named once. @param moments in milliseconds from the answer */
export function atSounds(entries: readonly TimelineEntry[], moments: readonly number[]): Finding['evidence'] {
  const isBegun = (ms: number) => (entry: TimelineEntry) =>
    entry.type === 'speech' && entry.speaker === 'agent' && entry.start <= ms + 1;
  const found = new Set(moments.map((ms) => entries.findLastIndex(isBegun(ms))));
  return [...found]
    .filter((entry) => entry !== -1)
    .slice(0, MAX_MOMENTS)
    .map((entry) => ({ entry, quote: '' }));
}

/** `at 3.2 s, 4.1 s and 3 more`; times from the answer. */
export function momentsText(moments: readonly number[]): string {
  const named = moments.slice(0, MAX_MOMENTS).map((ms) => `${(ms / 1_000).toFixed(1)} s`);
  const more = moments.length - named.length;
  return `at ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** An unmet finding that nothing later on the call could change. */
export const settled = (finding: Finding): Finding => failedBy(finding, finding.evidence[0]?.entry);
