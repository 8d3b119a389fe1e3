import { Inject, Injectable } from '@nestjs/common';
import {
  type CallReader,
  type ReportedAttempt,
  type ReportedCall,
  type ReportedEvaluation,
  type ReportedRun,
  type ReportedVoice,
  type AudioReader,
} from '../../../libs/run-report/index.js';
import type { Attempt, CallResult, VoiceResult } from '../../../libs/simulation/index.js';
import { caseStatistics, isCounted, runScore } from '../../../libs/statistics/index.js';
import { caseName } from '../../../libs/text/index.js';
import { type Reader, readsWords } from '../../platform/access/caller.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { notFound } from '../../platform/errors/domain-error.js';
import { type RecordingFacts, RecordingsService } from '../recordings/recordings.service.js';
import { type CallFigures, CallsService, type CallWithResult, recordingOf } from '../calls/calls.service.js';
import { ComparisonService } from '../comparison/comparison.service.js';
import type { RunEntity } from '../runs/run.entity.js';
import { RunDeletionService } from '../retention/run-deletion.service.js';
import { type CaseOfPlan, RunsService } from '../runs/runs.service.js';

export interface RunResults {
  readonly run: ReportedRun;
  readonly readCalls: CallReader;
  /** Absent for readers who do not get recordings. */
  readonly readAudio?: AudioReader;
}

/** Reads the results of a run for the renderers of libs/run-report. */
@Injectable()
export class ResultsService {
  constructor(
    private readonly runs: RunsService,
    private readonly calls: CallsService,
    private readonly comparisons: ComparisonService,
    private readonly deletion: RunDeletionService,
    private readonly recordings: RecordingsService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * @param comparedWith `gate`: the run of the gate or, without one, the previous one, if it exists; or as for
   *   `ComparisonService.compare`; several, separated by commas, as for `matrix`; by default not compared
   * @throws DomainError NOT_FOUND, or FORBIDDEN for another workspace's run; and as `ComparisonService.compare` does
   */
  async read(caller: Reader, runId: string, { comparedWith }: { comparedWith?: string } = {}): Promise<RunResults> {
    const entity = await this.runs.require(caller, runId);
    const { agentSnapshot } = entity;
    const run = await this.runs.get(caller, runId);
    const plan = await this.runs.cases(run.id);
    // Every run has cases until it is deleted, which may have happened since it was read.
    if (plan.length === 0) throw notFound();
    const figures = await this.calls.figures(run.id);
    const hasSound = readsWords(caller, run.origin);
    const readAudio: AudioReader = (callId, wanted) => this.recordings.audio(caller, callId, wanted);
    return {
      run: {
        id: run.id,
        name: run.name,
        agentId: run.agentId,
        agentName: agentSnapshot.name,
        status: run.status,
        score: runScore(figures.filter(hasOutcome).filter(({ provisional }) => !provisional)),
        minimumScore: run.minimumScore,
        minimumPassRate: run.minimumPassRate,
        allowedUncounted: run.allowedUncounted,
        notWorseThan: run.notWorseThan,
        agentVersion: run.agentVersion,
        derivedFrom: run.derivedFrom,
        ...(run.day !== null && { isProduction: true as const }),
        exitCode: run.exitCode,
        reasons: run.reasons,
        warnings: run.warnings,
        repeat: run.repeat,
        createdAt: run.createdAt,
        startedAt: run.startedAt,
        endedAt: run.endedAt,
        counts: { total: run.totalCalls, ...run.counts },
        retriedCalls: run.retriedCalls,
        ...(await this.compared(caller, entity, comparedWith)),
        paidSeconds: run.paidSeconds,
        callsThatWaited: run.callsThatWaited,
        serviceUrl: this.settings.publicUrl ?? null,
        evaluations: reportedEvaluations(plan, figures),
        ...(!hasSound && { recordingOf: () => null }),
      },
      readCalls: (wanted) => this.readCalls(caller, run, wanted),
      ...(hasSound && { readAudio }),
    };
  }

  /**
   * Reads a run for readers of a link, compared with the run of its gate or the previous one.
   * @throws DomainError NOT_FOUND, also for production calls, which no link opens, or FORBIDDEN for another workspace's run
   */
  async readShared(workspaceId: string, runId: string, includeRecordings: boolean): Promise<RunResults> {
    if ((await this.runs.require({ workspaceId }, runId)).origin === 'production') throw notFound();
    const { run, readAudio, ...results } = await this.read({ workspaceId }, runId, { comparedWith: 'gate' });
    const shared = { ...results, run: { ...run, recordingOf: () => null } };
    return includeRecordings && readAudio ? { ...shared, readAudio } : shared;
  }

  private async compared(
    caller: Reader,
    run: RunEntity,
    comparedWith: string | undefined,
  ): Promise<Pick<ReportedRun, 'comparison' | 'matrix'>> {
    const nothing = { comparison: null, matrix: null };
    if (comparedWith === undefined) return nothing;
    if (comparedWith === 'gate') return { ...nothing, comparison: (await this.comparisons.forReport(run)) ?? null };
    const others = comparedWith.split(',');
    if (others.length > 1) return { ...nothing, matrix: await this.comparisons.matrix(caller, run.id, others) };
    return { ...nothing, comparison: await this.comparisons.compare(caller, run.id, comparedWith) };
  }

  /** @throws DomainError NOT_FOUND if the run was deleted and calls are missing: the file must not look complete */
  private async *readCalls(
    reader: Reader,
    run: { id: string; repeat: number },
    wanted?: Parameters<CallReader>[0],
  ): AsyncGenerator<ReportedCall> {
    yield* mapped(this.calls.withResults(reader, run, wanted));
    if (!(await this.deletion.isComplete(run.id))) throw notFound();
  }
}

type Ended = CallFigures & { readonly outcome: NonNullable<CallFigures['outcome']> };
const hasOutcome = (call: CallFigures): call is Ended => call.outcome !== null;

function reportedEvaluations(plan: readonly CaseOfPlan[], figures: readonly CallFigures[]): ReportedEvaluation[] {
  const byCase = new Map<string, CallFigures[]>(plan.map(({ caseKey }) => [caseKey, []]));
  for (const call of figures) byCase.get(call.caseKey)?.push(call);
  return plan.map(({ id, caseKey, variables, language, key, name, tags, critical, provisional }) => {
    const calls = byCase.get(caseKey) ?? [];
    const all = calls.filter(hasOutcome);
    const ended = provisional ? [] : all;
    const count = (outcome: string) => ended.filter((call) => call.outcome === outcome).length;
    const [statistics] = caseStatistics(ended);
    return {
      id,
      caseKey,
      key,
      name: caseName(name, variables, caseKey),
      language,
      tags,
      critical,
      retried: calls.filter(({ retries }) => retries > 0).length,
      total: calls.length,
      durationMs: calls.reduce((sum, { durationMs }) => sum + durationMs, 0),
      counted: statistics?.counted ?? 0,
      passed: count('passed'),
      failed: count('failed'),
      invalid: count('invalid'),
      error: count('error'),
      provisional: all.length - ended.length,
      stability: statistics?.stability ?? null,
      passRate: statistics?.passRate ?? null,
      passRateInterval: statistics?.passRateInterval ?? null,
      score: runScore(ended),
      latencies: ended.filter(({ outcome }) => isCounted(outcome)).flatMap(({ latencies }) => latencies),
    };
  });
}

async function* mapped(calls: AsyncIterable<CallWithResult>): AsyncGenerator<ReportedCall> {
  for await (const call of calls) {
    const { result, attempts, earlierResults } = call;
    yield {
      id: call.id,
      externalId: call.externalId,
      evaluationId: call.evaluationId,
      caseKey: call.caseKey,
      repetition: call.repetition,
      status: call.status,
      outcome: call.outcome,
      provisional: call.provisional,
      score: call.score,
      reason: call.reason,
      failureCode: attempts.at(-1)?.failureCode ?? null,
      startedAt: call.startedAt?.toISOString() ?? null,
      endedAt: call.endedAt?.toISOString() ?? null,
      attempts: attempts.length,
      retries: call.retries,
      earlierAttempts: earlierAttempts(call.status === 'ENDED' ? attempts.slice(0, -1) : attempts, earlierResults),
      timeline: result?.timeline ?? [],
      checks: result?.checks ?? [],
      criteria: result?.criteria ?? [],
      measures: result?.measures ?? null,
      voice: result?.voice ? reportedVoice(result.voice, result.reliability, recordingOf(call)) : null,
    };
  }
}

const reportedVoice = (
  { voice: measures, wireFindings, words, wordsFrom, lanes }: VoiceResult,
  { frameLatenessMs }: CallResult['reliability'],
  recording: RecordingFacts | null,
): ReportedVoice => ({
  measures,
  wireFindings,
  words,
  wordsFrom,
  lanes,
  recording,
  ...(frameLatenessMs && { frameLatenessMs }),
});

/** @param attempts those before the one that counts */
const earlierAttempts = (
  attempts: readonly Attempt[],
  results: CallWithResult['earlierResults'],
): readonly ReportedAttempt[] =>
  attempts.map(({ outcome, failureCode, reason, startedAt, endedAt, callId = null }, index) => {
    const result = results?.[index + 1];
    const { timeline = [], isShortened = false } = result ?? {};
    return { outcome, failureCode, reason, startedAt, endedAt, callId, timeline, isShortened };
  });
