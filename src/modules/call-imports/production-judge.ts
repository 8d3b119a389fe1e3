import {
  type CallOptions,
  type CallResult,
  executeTranscribedCall,
  type PersonalDataRedaction,
  type ReportedCall,
  type TranscriptEntry,
} from '../../../libs/simulation/index.js';
import { evaluationOf, judgedBy } from '../runs/runs.service.js';
import type { AgentSnapshot } from '../runs/run.entity.js';
import { countedFrom } from '../starts/run-starter.service.js';
import type { PlannedEvaluation } from '../starts/run-writer.service.js';

/** Why criteria are not judged, as a sentence without full stop. */
export const UNJUDGED = {
  off: 'Words of real callers are sent to no language model unless that is switched on',
  limit: 'The criteria of as many calls as may be judged on a day were judged',
} as const;

/** A call of a real caller, with all that was said on it. */
export interface ProductionWords extends Pick<ReportedCall, 'toolCalls' | 'endedReason'> {
  readonly transcript: readonly TranscriptEntry[];
  /** Unix milliseconds. */
  readonly startedAt: number;
}

/**
 * Judges a production call in memory. Its checks decide on the words as they were said; the result has none of the personal data.
 * @param callId of the attempt
 * @param judging the model with which criteria are judged, or why there is none
 */
export function judgeProduction(
  agent: AgentSnapshot,
  planned: PlannedEvaluation,
  { transcript, startedAt, ...reported }: ProductionWords,
  judging: Pick<CallOptions, 'model' | 'judgeSamples' | 'unjudged' | 'signal'> & {
    readonly callId: string;
    readonly redaction?: PersonalDataRedaction;
  },
): Promise<CallResult> {
  const { snapshot, cases } = countedFrom(planned, new Date(startedAt));
  const evaluation = evaluationOf(snapshot, cases[0]!.variables);
  const { appliesTo } = evaluation;
  return executeTranscribedCall({
    ...judgedBy(agent, evaluation),
    ...(appliesTo && { appliesTo }),
    ...{ transcript, reported: { ...reported, isProduction: true } },
    ...judging,
  });
}
