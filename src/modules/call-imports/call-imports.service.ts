import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  type CallResult,
  type CheckResult,
  type ImportedToolCall,
  PersonalDataRedaction,
  RECORDING,
} from '../../../libs/simulation/index.js';
import type { Caller } from '../../platform/access/caller.js';
import { Database } from '../../platform/database/database.js';
import { isUuid } from '../../platform/database/ids.js';
import { about, conflict, DomainError, invalidInput } from '../../platform/errors/domain-error.js';
import { type AgentDescription, AgentsService } from '../agents/agents.service.js';
import { RecordingUploadsService } from '../recordings/recording-uploads.service.js';
import { RecordingsService } from '../recordings/recordings.service.js';
import { CallsService } from '../calls/calls.service.js';
import type { CallDetails } from '../calls/dto/call.responses.js';
import { countedFrom, RunStarterService } from '../starts/run-starter.service.js';
import { type PlannedEvaluation, RunWriterService } from '../starts/run-writer.service.js';
import type { Import } from './import-reader.js';
import { type JudgingOptions, judgeProduction, type ProductionWords, UNJUDGED } from './production-judge.js';
import { recordedRun } from './recorded-run.js';
import { full } from './room.js';
import { CallImportsRepository, type NewCallImport } from './call-imports.repository.js';

export { type JudgingOptions, judgeProduction, type ProductionWords, recordedRun, UNJUDGED };

const NAME = 'Imported calls';
/** An import does not wait for calls to the agent, which it does not call. */
const CONCURRENCY = 100;

type ReportedParts = Pick<NewCallImport, 'transcript' | 'toolCalls' | 'endedReason' | 'reported'>;

/** Imports calls that were recorded elsewhere, each in a run of its own. */
@Injectable()
export class CallImportsService {
  constructor(
    private readonly database: Database,
    private readonly agents: AgentsService,
    private readonly starter: RunStarterService,
    private readonly writer: RunWriterService,
    private readonly repository: CallImportsRepository,
    private readonly calls: CallsService,
    private readonly recordings: RecordingsService,
    private readonly uploads: RecordingUploadsService,
  ) {}

  /**
   * Imports a call, unless it was imported already with the same external id.
   * @returns the call, and whether it was there
   * @throws DomainError NOT_FOUND or FORBIDDEN for the agent or the evaluation; BAD_REQUEST for the evaluation; CONFLICT if
   *   the external id has another call, or if there is no room for its recording
   */
  async import(caller: Caller, agentId: string, given: Import): Promise<{ call: CallDetails; isKnown: boolean }> {
    const { externalId } = given.request;
    return this.database.transaction(async () => {
      // The lock prevents the agent from being deleted concurrently.
      const agent = await this.agents.describe(caller, agentId, { lock: true });
      const known = externalId === undefined ? undefined : await this.repository.lock(agent.id, externalId);
      if (known && known.contentHash !== given.contentHash) {
        throw conflict('externalId is that of an imported call of the agent with another content');
      }
      if (known) return { call: await this.calls.get(caller, known.callId), isKnown: true };
      const evaluation = await this.evaluation(caller, agent, given.request.evaluationId);
      const callId = await this.write(caller, agent, evaluation, given);
      // Last, because nothing may fail after it but the commit.
      if (given.bytes !== null) await this.uploads.keep(given.runId);
      return { call: await this.calls.get(caller, callId), isKnown: false };
    });
  }

  private async evaluation(caller: Caller, agent: AgentDescription, id: string): Promise<PlannedEvaluation> {
    const unknown = () => invalidInput(about('evaluationId', 'is not the id of an evaluation of the agent'));
    if (!isUuid(id)) throw unknown();
    const evaluation = await this.starter.evaluation(caller, agent, id).catch((error: unknown) => {
      throw error instanceof DomainError && error.code === 'BAD_REQUEST' ? unknown() : error;
    });
    if (evaluation.cases.length === 1) return evaluation;
    throw invalidInput(about('evaluationId', 'must be an evaluation with at most one row of variables'));
  }

  /** @returns the id of the call */
  private async write(
    { workspaceId, userId }: Caller,
    agent: AgentDescription,
    evaluation: PlannedEvaluation,
    { runId, request, bytes, transcript, toolCalls, reported, contentHash: hash }: Import,
  ): Promise<string> {
    await this.writer.requireRoom(agent.id);
    if (bytes !== null && !(await this.recordings.hasRoom(workspaceId, bytes))) throw full();
    const { channels = null, externalId = null, endedReason = null, origin = 'import' } = request;
    const run = {
      ...recordedRun(agent),
      ...{ id: runId, userId, name: externalId ?? NAME, origin },
      ...{ totalCalls: 1, repeat: 1, concurrency: CONCURRENCY },
    };
    const choice = { protocol: RECORDING, medium: 'voice' as const };
    const startedAt = new Date(request.startedAt);
    const { callIds } = await this.writer.write(run, [countedFrom(evaluation, startedAt)], choice);
    const callId = callIds[0]!;
    const row = { callId, runId, workspaceId, agentId: agent.id, externalId, contentHash: hash, channels };
    const said = { transcript: transcript && [...transcript], toolCalls: toolCalls && [...toolCalls] };
    const parts = { ...said, endedReason, reported };
    const stored =
      origin === 'production' ? await this.production(agent, evaluation, parts, startedAt, bytes !== null) : parts;
    await this.repository.insert({ ...row, decided: null, ...stored, origin, bytes: bytes ?? 0 }, startedAt);
    return callId;
  }

  /** A production call as it is stored: redacted and, without a recording, judged by its checks. */
  private async production(
    agent: AgentDescription,
    evaluation: PlannedEvaluation,
    parts: ReportedParts,
    startedAt: Date,
    isRecorded: boolean,
  ): Promise<ReportedParts & { readonly decided: CallResult | null }> {
    const { transcript, toolCalls, endedReason, reported } = parts;
    const redaction = new PersonalDataRedaction();
    const clean = {
      transcript: transcript && redaction.lines(transcript),
      toolCalls: toolCalls && toolCalls.map((call) => redacted(call, redaction)),
      endedReason: endedReason && redaction.text(endedReason),
      reported: redaction.value(reported),
    };
    const judge = (words: typeof parts, known: object) =>
      judgeProduction(
        agent,
        evaluation,
        {
          ...{ transcript: words.transcript ?? [], startedAt: startedAt.getTime() },
          ...(words.toolCalls && { toolCalls: words.toolCalls }),
          ...(words.endedReason !== null && { endedReason: words.endedReason }),
        },
        { callId: randomUUID(), ...known },
      );
    const decided = await judge(parts, { redaction });
    if (!isRecorded) return { ...clean, transcript: null, toolCalls: null, decided };
    // What the redacted words would decide otherwise.
    const { checks } = await judge(clean, {});
    const isOther = ({ met }: CheckResult, index: number) => met !== checks[index]?.met;
    return { ...clean, decided: { ...decided, checks: decided.checks.filter(isOther) } };
  }
}

const redacted = (
  { name, startMs, arguments: args, result }: ImportedToolCall,
  redaction: PersonalDataRedaction,
): ImportedToolCall => ({
  ...{ name: redaction.text(name), startMs, arguments: redaction.value(args) },
  ...(result !== undefined && { result: redaction.value(result) }),
});
