import { Injectable } from '@nestjs/common';
import type { CheckResult, CriterionResult } from '../../../../libs/simulation/index.js';
import { gate, runScore } from '../../../../libs/statistics/index.js';
import { Database } from '../../../platform/database/database.js';
import { WebhooksService } from '../../webhooks/webhooks.service.js';
import { WorkspacesService } from '../../workspaces/workspaces.service.js';
import { notifyEnded } from '../progress/channels.js';
import type { RunEntity } from '../run.entity.js';
import { toRunData } from '../run-data.js';
import * as sql from './finish.sql.js';

interface EndedCall {
  readonly id: string;
  readonly evaluationId: string;
  readonly outcome: 'passed' | 'failed' | 'invalid' | 'error';
  readonly score: number | null;
}

interface PlannedEvaluation {
  readonly evaluationId: string;
  readonly name: string;
  readonly critical: boolean;
}

interface FailedCall {
  readonly id: string;
  readonly evaluationId: string;
  readonly checks: readonly CheckResult[];
  readonly criteria: readonly CriterionResult[];
}

/** Ends runs. */
@Injectable()
export class RunFinisher {
  constructor(
    private readonly database: Database,
    private readonly webhooks: WebhooksService,
    private readonly workspaces: WorkspacesService,
  ) {}

  /**
   * Ends a run of which every call has ended: decides by its gate and sends its events, in one transaction. Does
   * nothing when the run has ended already or has calls left, so that anybody may ask for it.
   */
  async finish(runId: string): Promise<void> {
    await this.database.transaction(async () => {
      const [run] = await this.database.query<RunEntity>(sql.LOCK_OPEN_RUN, [runId]);
      if (!run) return;
      // Ends of one agent's runs come one after the other: each is compared with the one before.
      await this.database.query(sql.LOCK_AGENT, [run.agentId]);
      const calls = await this.database.query<EndedCall>(sql.ENDED_CALLS, [runId]);
      const evaluations = await this.database.query<PlannedEvaluation>(sql.PLANNED, [runId]);
      const critical = evaluations.filter((evaluation) => evaluation.critical);
      const { met, reasons } = gate({ calls, minimumScore: run.minimumScore, critical });
      const score = runScore(calls);
      const status = met ? 'COMPLETED' : 'FAILED';
      const [ended] = await this.database.query<RunEntity>(sql.FINISH, [runId, status, score ?? 0, reasons]);
      if (!ended) return;
      await this.sendOutcome(ended);
      if (score !== null) await this.sendDrop(ended);
      const failed = calls.filter(({ outcome }) => outcome === 'failed').map(({ evaluationId }) => evaluationId);
      if (critical.some(({ evaluationId }) => failed.includes(evaluationId))) await this.sendCriticalFailures(ended);
      await notifyEnded(this.database, runId);
    });
  }

  private async sendOutcome(run: RunEntity): Promise<void> {
    const { workspaceId, agentId, reasons } = run;
    const data = { run: toRunData(run) };
    if (run.status === 'COMPLETED') await this.webhooks.emit({ workspaceId, agentId, type: 'run.completed', data });
    else {
      const reason = reasons.join(' ');
      await this.webhooks.emit({ workspaceId, agentId, type: 'run.failed', data: { ...data, reason } });
    }
  }

  /** A score can only drop from somewhere: an agent's first run sends nothing. */
  private async sendDrop(run: RunEntity): Promise<void> {
    const { workspaceId, agentId, score } = run;
    const { scoreThreshold } = await this.workspaces.get(workspaceId);
    if (scoreThreshold === null || score >= scoreThreshold) return;
    const [previous] = await this.database.query<{ score: number }>(sql.PREVIOUS_SCORE, [agentId, run.id]);
    if (!previous || previous.score < scoreThreshold) return;
    await this.webhooks.emit({
      workspaceId,
      agentId,
      type: 'agent.score_dropped',
      data: {
        agentId,
        agentName: run.agentSnapshot.name,
        runId: run.id,
        score,
        previousScore: previous.score,
        scoreThreshold,
      },
    });
  }

  private async sendCriticalFailures(run: RunEntity): Promise<void> {
    const { workspaceId, agentId } = run;
    const failed = await this.database.query<FailedCall>(sql.FAILED_CRITICAL_CALLS, [run.id]);
    for (const { id, evaluationId, checks, criteria } of failed) {
      const failedCriteria = [
        ...checks.filter(({ met }) => !met).map(({ name }) => name),
        ...criteria.filter(({ verdict }) => verdict === 'not_met').map(({ text }) => text),
      ];
      const data = { runId: run.id, evaluationId, callId: id, failedCriteria };
      await this.webhooks.emit({ workspaceId, agentId, type: 'evaluation.critical_failed', data });
    }
  }
}
