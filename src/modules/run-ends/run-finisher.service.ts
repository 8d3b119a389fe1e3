import { Inject, Injectable } from '@nestjs/common';
import { gate, runScore } from '../../../libs/statistics/index.js';
import { caseName, clipped } from '../../../libs/text/index.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { RecordingUploadsService } from '../recordings/recording-uploads.service.js';
import { WebhooksService } from '../webhooks/webhooks.service.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import { CaseHistoryService } from '../case-history/case-history.service.js';
import { EvaluationsService } from '../evaluations/evaluations.service.js';
import { BaselinesService } from '../comparison/baselines.service.js';
import type { RunEntity } from '../runs/run.entity.js';
import { LooksService } from '../alarms/looks.service.js';
import { HeartbeatService } from '../schedules/heartbeat.service.js';
import { RunsService, toRunData } from '../runs/runs.service.js';
import { FinishRepository, type UnrecordedCalls } from './finish.repository.js';

export type { CriticalCase } from './finish.repository.js';

/** Cases that an event names, and characters of the reason of each. */
const MAX_CASES = 20;
const MAX_REASON = 1_000;

/** Finishes runs whose calls have all ended. */
@Injectable()
export class RunFinisher {
  constructor(
    private readonly database: Database,
    private readonly repository: FinishRepository,
    private readonly runs: RunsService,
    private readonly baselines: BaselinesService,
    private readonly history: CaseHistoryService,
    private readonly evaluations: EvaluationsService,
    private readonly uploads: RecordingUploadsService,
    private readonly heartbeats: HeartbeatService,
    private readonly looks: LooksService,
    private readonly webhooks: WebhooksService,
    private readonly workspaces: WorkspacesService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * Evaluates the run's gate, stores its result and those of its cases, and emits its events, in one transaction; derived and
   * imported runs have no events and no results of cases, and a day of production no gate. Idempotent: does nothing if the run has ended already or has calls left.
   */
  async finish(runId: string): Promise<void> {
    const isImported = await this.database.transaction(() => this.finishOpen(runId));
    // What was sent is only needed until the call has ended.
    if (isImported) await this.uploads.delete(runId);
  }

  /** @returns whether it has ended, and its call was recorded elsewhere */
  private async finishOpen(runId: string): Promise<boolean> {
    const run = await this.runs.lockOver(runId);
    if (!run) return false;
    if (run.day !== null) {
      const score = await this.repository.score(runId);
      await this.runs.end(runId, { status: 'COMPLETED', score, exitCode: null, reasons: [], warnings: [] });
      await this.history.record(run);
      await this.looks.runEnded({ scheduleId: run.agentId });
      return false;
    }
    await this.repository.lockAgent(run.agentId);
    const all = await this.repository.endedCalls(runId);
    const calls = all.filter(({ provisional }) => !provisional);
    const provisional = all.length - calls.length;
    const critical = (await this.repository.criticalCases(runId)).map(({ caseKey, variables, name }) => ({
      caseKey,
      name: caseName(name, variables, caseKey),
    }));
    const { cases, baseline } = await this.baselines.ofGate(run);
    const leftOut = { calls: run.leftOutCalls, critical: run.leftOutCritical };
    const {
      met,
      exitCode,
      reasons,
      warnings: doubts,
    } = gate({
      ...{ ...run, calls, critical, cases, baseline, leftOut, provisional },
    });
    const unrecorded = run.derivedFrom === null ? await this.repository.unrecordedCalls(runId) : [];
    const warnings = [...doubts, ...unrecorded.map(notRecorded)];
    const score = runScore(calls);
    const status = met ? 'COMPLETED' : 'FAILED';
    const ended = await this.runs.end(runId, { status, score: score ?? 0, exitCode, reasons, warnings });
    if (!ended) return false;
    // What was observed of the agent was reported when it was called, or the agent was not called by the service.
    if (ended.derivedFrom !== null || ended.isImported) return ended.isImported;
    const red = all.filter((call) => call.provisional && call.outcome === 'failed');
    await this.evaluations.prove(red.map(({ evaluationId }) => evaluationId));
    await this.history.record(ended);
    await this.heartbeats.runEnded(ended);
    await this.looks.runEnded(ended);
    await this.sendOutcome(ended);
    if (score !== null) await this.sendDrop(ended);
    const failed = new Set(calls.flatMap(({ caseKey, outcome }) => (outcome === 'failed' ? caseKey : [])));
    if (critical.some(({ caseKey }) => failed.has(caseKey))) await this.sendCriticalFailures(ended);
    return false;
  }

  private async sendOutcome(run: RunEntity): Promise<void> {
    const { workspaceId, agentId, reasons } = run;
    const { publicUrl } = this.settings;
    const reportUrl = publicUrl === undefined ? null : `${publicUrl}/runs/${run.id}/report`;
    const data = { run: toRunData(run), reportUrl };
    if (run.status === 'COMPLETED') await this.webhooks.emit({ workspaceId, agentId, type: 'run.completed', data });
    else {
      const reason = reasons.join(' ');
      const cases = await this.repository.notPassedCases(run.id, MAX_CASES);
      const failedCases = cases.map(({ key, name, variables, caseKey, outcome, reason: why }) => ({
        key,
        name: caseName(name, variables, caseKey),
        outcome,
        reason: why === null ? null : clipped(why, MAX_REASON),
      }));
      await this.webhooks.emit({ workspaceId, agentId, type: 'run.failed', data: { ...data, reason, failedCases } });
    }
  }

  /** An agent's first run has no previous score, so it emits nothing. */
  private async sendDrop(run: RunEntity): Promise<void> {
    const { workspaceId, agentId, score } = run;
    const { scoreThreshold } = await this.workspaces.get(workspaceId);
    if (scoreThreshold === null || score >= scoreThreshold) return;
    const previousScore = await this.repository.previousScore(run);
    if (previousScore === undefined || previousScore < scoreThreshold) return;
    await this.webhooks.emit({
      workspaceId,
      agentId,
      type: 'agent.score_dropped',
      data: {
        agentId,
        agentName: run.agentSnapshot.name,
        runId: run.id,
        score,
        previousScore,
        scoreThreshold,
      },
    });
  }

  private async sendCriticalFailures(run: RunEntity): Promise<void> {
    const { workspaceId, agentId } = run;
    const failed = await this.repository.failedCriticalCalls(run.id);
    for (const { id, evaluationId, checks, criteria } of failed) {
      const failedCriteria = [
        ...checks.filter(({ met }) => met === false).map(({ name }) => name),
        ...criteria.filter(({ verdict }) => verdict === 'not_met').map(({ text }) => text),
      ];
      const data = { runId: run.id, evaluationId, callId: id, failedCriteria };
      await this.webhooks.emit({ workspaceId, agentId, type: 'evaluation.critical_failed', data });
    }
  }
}

const WHY_NOT_RECORDED = {
  quota: 'the workspace keeps as much as it may (RECORDINGS_BYTES_PER_WORKSPACE); delete old runs or raise it',
  disk: 'it could not be written; the log of the service has the error',
} as const satisfies Record<UnrecordedCalls['reason'], string>;

const notRecorded = ({ reason, calls }: UnrecordedCalls): string =>
  `${calls} ${calls === 1 ? 'call has' : 'calls have'} no recording: ${WHY_NOT_RECORDED[reason]}.`;
