import { Injectable } from '@nestjs/common';
import {
  type EvaluationDefinition,
  type VariablesRow,
  datesFrom,
  withVariables,
} from '../../../libs/evaluation-definition/index.js';
import type { Attempt } from '../../../libs/simulation/index.js';
import type { Outcome } from '../../../libs/statistics/index.js';
import type { Caller, Reader } from '../../platform/access/caller.js';
import { requireOwned } from '../../platform/access/ownership.js';
import { uuidOrNotFound } from '../../platform/database/ids.js';
import { listPage, type Page, type PageRequest } from '../../platform/database/page.js';
import { AgentsService } from '../agents/agents.service.js';
import type { AgentCallsQuery } from './dto/list-calls.query.js';
import type { AgentCall, Call, CallAttempt, CallAttemptDetails, CallDetails } from './dto/call.responses.js';
import type { AttemptResult } from '../runs/call-attempt.entity.js';
import type { RunEntity } from '../runs/run.entity.js';
import { RunsService } from '../runs/runs.service.js';
import { shownTo, toRecord } from './call-record.js';
import {
  type AgentCallRow,
  type CallFigures,
  type CallRow,
  CallsRepository,
  type CallWithResult,
  recordingOf,
  type WholeCall,
} from './calls.repository.js';

export { recordingOf };
export type { CallFigures, CallRow, CallWithResult };

/** The calls of a run. */
@Injectable()
export class CallsService {
  constructor(
    private readonly repository: CallsRepository,
    private readonly runs: RunsService,
    private readonly agents: AgentsService,
  ) {}

  /** @throws DomainError NOT_FOUND or FORBIDDEN for the run */
  async list(caller: Caller, runId: string, query: PageRequest & { readonly outcome?: Outcome }): Promise<Page<Call>> {
    const run = await this.runs.require(caller, runId);
    const toShown = (row: CallRow) => toCall(shownTo(caller, row));
    return listPage(query, toShown, (rows) => this.repository.page(run.id, query.outcome, rows));
  }

  /** @throws DomainError NOT_FOUND or FORBIDDEN for the agent */
  async listOfAgent(caller: Caller, agentId: string, query: AgentCallsQuery): Promise<Page<AgentCall>> {
    await this.agents.require(caller, agentId);
    const toAgentCall = (row: AgentCallRow) => {
      const { origin, externalId } = row;
      return { ...toCall(shownTo(caller, row)), origin, externalId };
    };
    return listPage(query, toAgentCall, (rows) => this.repository.pageOfAgent(agentId, query, rows));
  }

  /** @throws DomainError NOT_FOUND, or FORBIDDEN for another workspace's call */
  async get(caller: Caller, id: string): Promise<CallDetails> {
    const row = shownTo(caller, requireOwned(caller, await this.repository.find(uuidOrNotFound(id))));
    const { evaluation, agent, agentVersion, assistantVersion, protocol, medium, platform, imported, result } = row;
    return {
      ...toCall(row),
      evaluation,
      agent,
      agentVersion,
      agentVariables: agentVariablesOf(row),
      assistantVersion,
      protocol,
      medium,
      platform,
      imported,
      ...toRecord(result, recordingOf(row)),
      attempts: attemptsWithResults(row),
    };
  }

  /** What statistics on the calls of a run need, in plan order. */
  figures(runId: string): Promise<CallFigures[]> {
    return this.repository.figures(runId);
  }

  /**
   * The calls of a run with their results, in plan order, read in batches.
   * @param wanted by default all; `evaluationIds` must be in plan order
   */
  async *withResults(
    reader: Reader,
    run: Pick<RunEntity, 'id' | 'repeat'>,
    wanted?: { readonly evaluationIds?: readonly string[]; readonly outcomes?: readonly Outcome[] },
  ): AsyncGenerator<CallWithResult> {
    for await (const call of this.repository.all(run, wanted)) yield shownTo(reader, call);
  }

  /** Pages of the calls of a run that changed in a transaction or later; `horizon` is where to continue. */
  async *changedSince(reader: Reader, runId: string, transaction: bigint): ReturnType<CallsRepository['changedSince']> {
    for await (const { calls, ...page } of this.repository.changedSince(runId, transaction)) {
      yield { ...page, calls: calls.map((call) => shownTo(reader, call)) };
    }
  }
}

/** Those of the run, above those of the evaluation with the values of the case; earlier versions stored none. */
function agentVariablesOf({ evaluation, variables, agentVariables }: WholeCall): VariablesRow {
  const { agentVariables: ofEvaluation = {} } = evaluation.definition as Partial<EvaluationDefinition>;
  const dates = evaluation.dates && datesFrom(evaluation.dates);
  return { ...withVariables({ agentVariables: ofEvaluation }, variables, dates).agentVariables, ...agentVariables };
}

/** The last attempt of an ended call is its result. */
function attemptsWithResults(row: CallWithResult): CallAttemptDetails[] {
  const { attempts, status, result, earlierResults, recordings } = row;
  const last = status === 'ENDED' ? attempts.length : undefined;
  return attempts.map((attempt, index) => {
    const number = index + 1;
    const found: AttemptResult | null = number === last ? result : (earlierResults?.[number] ?? null);
    const recording = recordings?.[attempt.callId ?? ''] ?? null;
    return { ...toAttempt(attempt), ...toRecord(found, recording), isShortened: found?.isShortened ?? false };
  });
}

/** Call id and turns are missing in attempts that were interrupted, or recorded by an older version. */
const toAttempt = (attempt: Attempt): CallAttempt => ({ callId: null, answeredTurns: 0, ...attempt });

export const toCall = (row: CallRow): Call => ({
  id: row.id,
  runId: row.runId,
  agentId: row.agentId,
  workspaceId: row.workspaceId,
  evaluationId: row.evaluationId,
  evaluationName: row.evaluationName,
  caseKey: row.caseKey,
  variables: row.variables,
  repetition: row.repetition,
  status: row.status,
  outcome: row.outcome,
  preliminary: row.preliminary,
  provisional: row.provisional,
  score: row.score,
  reason: row.reason,
  attempts: row.attempts.map(toAttempt),
  retries: row.retries,
  latencies: row.latencies,
  startedAt: row.startedAt?.toISOString() ?? null,
  endedAt: row.endedAt?.toISOString() ?? null,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});
