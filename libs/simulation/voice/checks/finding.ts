import { failedBy, type Finding } from '../../checks/check-result.js';
import type { TimelineEntry } from '../../timeline/timeline.js';

/** The event that a check is about did not happen on this call, so it proves nothing. */
export const notExercised = (detail: string): Finding => ({
  met: null,
  detail,
  evidence: [],
  undecided: 'not_exercised',
});

/** Evidence at the entry of a kind that starts at a moment; none if the timeline has no such entry. */
export function at(
  entries: readonly TimelineEntry[],
  isKind: (entry: TimelineEntry) => boolean,
  atMs: number,
): Finding['evidence'] {
  const entry = entries.findIndex((one) => isKind(one) && Math.abs(one.start - atMs) < 1);
  return entry === -1 ? [] : [{ entry, quote: '' }];
}

/** An unmet finding that nothing later on the call could change. */
export const settled = (finding: Finding): Finding => failedBy(finding, finding.evidence[0]?.entry);
