import { type Check, describeCheck, type NestedCheck } from '../../evaluation-definition/index.js';
import type { Judged } from '../judge/criterion-result.js';
import type { Placed } from '../timeline/call-view.js';
import type { Evidence } from '../timeline/evidence.js';
import { truncate } from '../timeline/text.js';
import type { SpeechEntry } from '../timeline/timeline.js';

export interface CheckResult {
  /** Position among the definition's checks. */
  readonly index: number;
  readonly type: Check['type'];
  /** The check's name, or a description if it has none. */
  readonly name: string;
  readonly weight: number;
  readonly required: boolean;
  /** Null if it could not be decided, for instance because the tester stalled and the limit is within the uncertainty. */
  readonly met: boolean | null;
  /** What was found, as a sentence without full stop. */
  readonly detail: string;
  readonly evidence: readonly Evidence[];
  /** Present if not met and nothing later in the call could have changed that: the timeline entry that decided it. */
  readonly decidedByEntry?: number;
  readonly undecided?: Undecided;
  /** Present if a criterion is in the check: what was found for each check in it that has no others inside, in order. */
  readonly parts?: readonly PartResult[];
  /** Present if the script expects it of a line: the position of the step, and of the answer in it. */
  readonly step?: number;
  readonly answer?: number;
}

export interface PartResult extends Finding {
  readonly name: string;
}

/**
 * Present if undecided for another reason than a stall of the tester: the call holds too little evidence, the event that the
 * check is about did not happen, or it depends on words of the agent that are not known, or that a recogniser heard differently
 * a second time, or the judge gave no verdict or was not asked.
 */
export type Undecided = 'evidence' | 'not_exercised' | 'words_unknown' | 'words_unclear' | 'no_verdict' | 'not_judged';

/** What a check found. */
export interface Finding extends Pick<CheckResult, 'met' | 'detail' | 'evidence'> {
  /** Whether it is met was certain from this timeline entry on, whatever followed; undefined if it was not. */
  readonly settledBy?: number;
  readonly undecided?: Undecided;
  /** Of a criterion. */
  readonly judged?: Judged;
}

/** A check that has no others inside, and what was found for it. */
export type Part = readonly [check: NestedCheck, finding: Finding];

const nameOf = (check: NestedCheck): string => check.name ?? describeCheck(check);

/** The result of a check. @param parts in order; of a line that was said several times, those of each time */
export function resultOf(
  check: Check,
  index: number,
  { settledBy, judged: _, ...finding }: Finding,
  parts: readonly Part[],
): CheckResult {
  const { type, weight, required } = check;
  const decided = finding.met === false && settledBy !== undefined ? { decidedByEntry: settledBy } : {};
  const isJudged = parts.some(([, { judged }]) => judged);
  const found = isJudged ? { parts: parts.map(([part, each]) => ({ name: nameOf(part), ...each })) } : {};
  const { step, answer } = check;
  const line = { ...(step !== undefined && { step }), ...(answer !== undefined && { answer }) };
  return { index, type, name: nameOf(check), weight, required, ...finding, ...decided, ...found, ...line };
}

/** A finding that is certain from an entry on, if there is one. */
export const settledBy = (finding: Finding, entry: number | undefined): Finding =>
  entry === undefined || entry < 0 ? finding : { ...finding, settledBy: entry };

/** An unmet finding that nothing after this entry could change, if there is one. */
export const failedBy = (finding: Finding, entry: number | undefined): Finding =>
  finding.met === false ? settledBy(finding, entry) : finding;

export const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

/** The words of a part of an utterance. */
export const wordsAt = ({ index, entry }: Placed<SpeechEntry>): Evidence => ({
  entry: index,
  quote: truncate(entry.text, 240),
});

/** A check that what is known of the call does not decide. */
export const undecided = (detail: string, evidence: Finding['evidence'] = []): Finding => ({
  ...{ met: null, detail, evidence, undecided: 'evidence' },
});
