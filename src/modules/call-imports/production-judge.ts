import {
  type CallOptions,
  type CallResult,
  executeImportedCall,
  executeTranscribedCall,
  type PersonalDataRedaction,
  type ReportedCall,
  type TranscriptEntry,
  type VoiceFacts,
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

/** The model with which criteria are judged, or why there is none. */
export interface JudgingOptions extends Pick<CallOptions, 'model' | 'judgeSamples' | 'unjudged' | 'signal'> {
  /** Of the attempt. */
  readonly callId: string;
  readonly redaction?: PersonalDataRedaction;
  /** What its sound shows of a call to which the evaluation applies by its words. */
  readonly facts?: VoiceFacts;
}

/**
 * Judges a production call in memory. Its checks decide on the words as they were said; the result has none of the personal data.
 */
export async function judgeProduction(
  agent: AgentSnapshot,
  planned: PlannedEvaluation,
  { transcript, startedAt, ...reported }: ProductionWords,
  { facts, ...judging }: JudgingOptions,
): Promise<CallResult> {
  const { snapshot, cases } = countedFrom(planned, new Date(startedAt));
  const evaluation = evaluationOf(snapshot, cases[0]!.variables);
  const { appliesTo } = evaluation;
  const given = { ...judgedBy(agent, evaluation), reported: { ...reported, isProduction: true }, ...judging };
  if (!facts) return executeTranscribedCall({ ...given, ...(appliesTo && { appliesTo }), transcript });
  const result = await executeImportedCall({ ...given, facts });
  // They are as they were said.
  return result.voice ? { ...result, voice: { ...result.voice, words: [] } } : result;
}
