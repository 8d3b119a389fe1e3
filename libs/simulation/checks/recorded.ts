import { CHECKS, needsOf, type NestedCheck } from '../../evaluation-definition/index.js';
import type { CallView } from '../timeline/call-view.js';
import { UNKNOWN_ENDS } from '../timeline/end-codes.js';
import { type Finding, undecided } from './check-result.js';
import { TIMES, WHILE_STALLED } from './times.js';

/** Whether the call was recorded elsewhere: everything about it is from its recording or transcript, or was reported. */
export const isRecording = ({ end }: Pick<CallView, 'end'>): boolean =>
  end?.recorded !== undefined || end?.code === 'recording_over';

/** Why a check without others inside it cannot be decided from a recording; undefined if it can. */
export function notInRecording(check: NestedCheck, view: CallView): Finding | undefined {
  const source = view.end?.recorded?.by ?? 'recording';
  const missing = missingIn(check, view) ?? (source === 'transcript' ? notInTranscript(check) : undefined);
  if (missing !== undefined) return undecided(`A ${source} does not show ${missing}`);
  return namesCaller(check) ? unknownCaller(view) : undefined;
}

/** What a check is about that neither a recording nor a transcript shows, unless it was reported. */
function missingIn(check: NestedCheck, { unknownTools, end }: CallView): string | undefined {
  const hasTools = unknownTools === null;
  if (needsOf(check).includes('toolCalls') && !hasTools) return 'tool calls';
  const isEndKnown = !end || !UNKNOWN_ENDS.has(end.code);
  const isReported = check.type === 'ends_by' ? isEndKnown : check.type === 'transfers' && isEndKnown && hasTools;
  return isReported ? undefined : (CHECKS[check.type].notInRecording ?? undefined);
}

function notInTranscript(check: NestedCheck): string | undefined {
  if (needsOf(check).includes('voice')) return 'how the call sounded';
  return check.type in TIMES || ('withinMs' in check && check.withinMs !== undefined) ? 'exact times' : undefined;
}

/** What a check of the caller's words finds if a recording does not have them; undefined if they are known. */
export function unknownCaller({ entries }: CallView): Finding | undefined {
  const unknown = entries.findIndex(
    (entry) => entry.type === 'speech' && entry.speaker === 'caller' && entry.words === 'unknown',
  );
  if (unknown === -1) return undefined;
  const detail = 'The words of the caller are not known';
  return { met: null, detail, evidence: [{ entry: unknown, quote: '' }], undecided: 'words_unknown' };
}

/** Whether a part of a check is about words of the caller. */
const namesCaller = (part: unknown): boolean =>
  typeof part === 'object' &&
  part !== null &&
  (('speaker' in part && part.speaker !== 'agent') || Object.values(part).some(namesCaller));

/** A time that cannot be decided is not due to the tester, which did not make the call. */
export function ofRecording(finding: Finding): Finding {
  if (finding.met !== null || finding.undecided !== undefined) return finding;
  const detail = finding.detail.replace(WHILE_STALLED, 'because a recording shows only about when the caller spoke');
  return { ...finding, detail, undecided: 'evidence' };
}
