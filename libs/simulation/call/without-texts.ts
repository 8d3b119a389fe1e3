import { CHECKS } from '../../evaluation-definition/index.js';
import type { CheckResult, PartResult } from '../checks/check-result.js';
import type { Judged } from '../judge/criterion-result.js';
import type { Evidence } from '../timeline/evidence.js';
import { type Failure, FAILURES } from '../timeline/failure.js';
import { END_CODES } from '../timeline/end-codes.js';
import type { TimelineEntry } from '../timeline/timeline.js';
import type { Attempt } from './attempts.js';
import type { CallResult } from './call.js';

/** Why a result has no texts, and what stands for them. */
const GONE = {
  deleted: 'The texts of the call were deleted',
  withheld: 'The texts of the call are shown to EDITOR and ADMIN keys',
} as const;
export type TextsGone = keyof typeof GONE;

/** The result of a call without anything that was said on it. Outcome, verdicts, times and measures stay. */
export function withoutTexts(result: CallResult, why: TextsGone = 'deleted'): CallResult {
  const { timeline, checks, criteria, invalidity, failure, end, measures, exchange, voice, unmeasured } = result;
  const endReason = END_CODES[end.code];
  return {
    ...result,
    reason: reasonOf(result, GONE[why]),
    failure: failure && failureOf(failure),
    timeline: timeline.map((entry) => entryOf(entry, why)),
    end: { ...end, reason: endReason },
    checks: checks.map((check) => checkWithoutTexts(check, why)),
    criteria: criteria.map((criterion) => criterionOf(criterion, GONE[why])),
    measures: { ...measures, endReason },
    invalidity: invalidity && { ...invalidity, message: GONE[why], evidence: invalidity.evidence.map(evidenceOf) },
    exchange: exchange && { ...exchange, requests: exchange.requests.map(({ unreadable: _, ...request }) => request) },
    unusableAnswers: [],
    // It may quote the platform.
    ...(unmeasured !== undefined && { unmeasured: GONE[why] }),
    voice: voice && {
      voice: voice.voice,
      wireFindings: voice.wireFindings.map((finding) => ({ ...finding, detail: '' })),
      words: [],
      wordsFrom: voice.wordsFrom,
      lanes: voice.lanes,
    },
  };
}

/** The summary of an attempt at a call without anything that was said on it. */
export const attemptWithoutTexts = (attempt: Attempt, why: TextsGone = 'deleted'): Attempt => ({
  ...attempt,
  reason: attempt.failureCode ? `${FAILURES[attempt.failureCode][2]}.` : `${GONE[why]}.`,
});

function reasonOf({ failure, checks, criteria }: CallResult, gone: string): string {
  if (failure) return `${FAILURES[failure.code][2]}.`;
  const missed = [
    ...checks.flatMap(({ met, name }) => (met === false ? [name] : [])),
    ...criteria.flatMap(({ verdict, text }) => (verdict === 'not_met' ? [text] : [])),
  ];
  return missed.length > 0 ? `Not met: ${missed.join('; ').replace(/\.$/, '')}. ${gone}.` : `${gone}.`;
}

const failureOf = ({ said: _, ...failure }: Failure): Failure => ({ ...failure, message: FAILURES[failure.code][2] });

function entryOf(entry: TimelineEntry, why: TextsGone): TimelineEntry {
  switch (entry.type) {
    case 'speech': {
      const { alternative: _, uncertain: __, unheard: ___, ...speech } = entry;
      return { ...speech, text: '', words: why };
    }
    case 'tool_call': {
      const { rawArguments: _, result, ...call } = entry;
      return { ...call, arguments: {}, ...(result !== undefined && why === 'deleted' && { isResultOmitted: true }) };
    }
    case 'finding':
    case 'platform':
      return { ...entry, detail: '' };
    case 'error':
      return { ...entry, message: FAILURES[entry.code][2] };
    case 'end':
      return { ...entry, reason: END_CODES[entry.code] };
    default:
      return entry;
  }
}

/** The result of a check without anything that was said. */
export const checkWithoutTexts = (check: CheckResult, why: TextsGone): CheckResult => ({
  ...check,
  ...(check.parts && { parts: check.parts.map((part) => partOf(part, GONE[why])) }),
  detail: CHECKS[check.type].keepsDetail ? check.detail : GONE[why],
  evidence: check.evidence.map(evidenceOf),
});

const partOf = ({ judged, ...part }: PartResult, gone: string): PartResult => ({
  ...part,
  detail: gone,
  evidence: part.evidence.map(evidenceOf),
  ...(judged && { judged: criterionOf(judged, gone) }),
});

const criterionOf = <T extends Judged>(criterion: T, gone: string): T => ({
  ...criterion,
  reason: gone,
  evidence: criterion.evidence && evidenceOf(criterion.evidence),
  samples: criterion.samples.map(({ unusable: _, evidence, ...sample }) => ({
    ...sample,
    reasoning: '',
    evidence: evidence && evidenceOf(evidence),
  })),
  ...(criterion.failure && { failure: failureOf(criterion.failure) }),
});

const evidenceOf = ({ entry }: Evidence): Evidence => ({ entry, quote: '' });
