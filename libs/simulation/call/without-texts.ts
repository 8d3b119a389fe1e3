import { CHECKS } from '../../evaluation-definition/index.js';
import type { CheckResult, PartResult } from '../checks/check-result.js';
import type { Judged } from '../judge/criterion-result.js';
import type { Evidence } from '../timeline/evidence.js';
import { type Failure, FAILURES } from '../timeline/failure.js';
import { END_CODES, type TimelineEntry } from '../timeline/timeline.js';
import type { Attempt } from './attempts.js';
import type { CallResult } from './call.js';

const DELETED = 'The texts of the call were deleted';

/** The result of a voice call without anything that was said on it. Outcome, verdicts, times and measures stay. */
export function withoutTexts(result: CallResult): CallResult {
  const { timeline, checks, criteria, invalidity, failure, end, measures, exchange, voice } = result;
  const endReason = END_CODES[end.code];
  return {
    ...result,
    reason: reasonOf(result),
    failure: failure && failureOf(failure),
    timeline: timeline.map(entryOf),
    end: { ...end, reason: endReason },
    checks: checks.map(checkOf),
    criteria: criteria.map(criterionOf),
    measures: { ...measures, endReason },
    invalidity: invalidity && { ...invalidity, message: DELETED, evidence: invalidity.evidence.map(evidenceOf) },
    exchange: exchange && { ...exchange, requests: exchange.requests.map(({ unreadable: _, ...request }) => request) },
    unusableAnswers: [],
    voice: voice && {
      voice: voice.voice,
      wireFindings: voice.wireFindings.map((finding) => ({ ...finding, detail: '' })),
      words: [],
      wordsFrom: voice.wordsFrom,
      lanes: voice.lanes,
    },
  };
}

/** The summary of an attempt at a voice call without anything that was said on it. */
export const attemptWithoutTexts = (attempt: Attempt): Attempt => ({
  ...attempt,
  reason: attempt.failureCode ? `${FAILURES[attempt.failureCode][2]}.` : `${DELETED}.`,
});

function reasonOf({ failure, checks, criteria }: CallResult): string {
  if (failure) return `${FAILURES[failure.code][2]}.`;
  const missed = [
    ...checks.flatMap(({ met, name }) => (met === false ? [name] : [])),
    ...criteria.flatMap(({ verdict, text }) => (verdict === 'not_met' ? [text] : [])),
  ];
  return missed.length > 0 ? `Not met: ${missed.join('; ').replace(/\.$/, '')}. ${DELETED}.` : `${DELETED}.`;
}

const failureOf = ({ said: _, ...failure }: Failure): Failure => ({ ...failure, message: FAILURES[failure.code][2] });

function entryOf(entry: TimelineEntry): TimelineEntry {
  switch (entry.type) {
    case 'speech': {
      const { alternative: _, uncertain: __, ...speech } = entry;
      return { ...speech, text: '', words: 'deleted' };
    }
    case 'tool_call': {
      const { rawArguments: _, result, ...call } = entry;
      return { ...call, arguments: {}, ...(result !== undefined && { isResultOmitted: true }) };
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

const checkOf = (check: CheckResult): CheckResult => ({
  ...check,
  ...(check.parts && { parts: check.parts.map(partOf) }),
  detail: CHECKS[check.type].keepsDetail ? check.detail : DELETED,
  evidence: check.evidence.map(evidenceOf),
});

const partOf = ({ judged, ...part }: PartResult): PartResult => ({
  ...part,
  detail: DELETED,
  evidence: part.evidence.map(evidenceOf),
  ...(judged && { judged: criterionOf(judged) }),
});

const criterionOf = <T extends Judged>(criterion: T): T => ({
  ...criterion,
  reason: DELETED,
  evidence: criterion.evidence && evidenceOf(criterion.evidence),
  samples: criterion.samples.map(({ unusable: _, evidence, ...sample }) => ({
    ...sample,
    reasoning: '',
    evidence: evidence && evidenceOf(evidence),
  })),
  ...(criterion.failure && { failure: failureOf(criterion.failure) }),
});

const evidenceOf = ({ entry }: Evidence): Evidence => ({ entry, quote: '' });
