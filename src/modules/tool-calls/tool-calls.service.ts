import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { MAX_REPORTED, reportedArguments, type Reports, sanitizeText } from '../../../libs/simulation/index.js';
import type { Caller } from '../../platform/access/caller.js';
import { Database } from '../../platform/database/database.js';
import { isUuid } from '../../platform/database/ids.js';
import { about, conflict, DomainError, notFound } from '../../platform/errors/domain-error.js';
import type { ReportToolCallRequest } from './dto/tool-call.request.js';
import type { Report } from './reporting-attempt.entity.js';
import { type StartedAttempt, ToolCallsRepository } from './tool-calls.repository.js';

/** A `CallSid` of Twilio is the id of the attempt without its hyphens. */
const CALL_SID = /^CA([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/i;

const isSame = ({ at: _, isArrival: __, result: ___, ...known }: Report, call: object): boolean =>
  isDeepStrictEqual(known, call);

const attemptOf = (callId: string): string => callId.replace(CALL_SID, '$1-$2-$3-$4-$5');
/** By how much the clock of a backend may be ahead. */
const SKEW_MS = 1_000;
/** Characters of a refusal. */
const MAX_REFUSAL = 200;

/** The tool calls that backends of agents report while they are called. */
@Injectable()
export class ToolCallsService {
  constructor(
    private readonly database: Database,
    private readonly repository: ToolCallsRepository,
  ) {}

  /**
   * Accepts a report of a call in progress. The same one again changes nothing, and may add the result.
   * @throws DomainError NOT_FOUND for a call that is unknown or of another workspace; CONFLICT for one that has ended, or
   *   that has as many reports as it may have
   */
  async report({ workspaceId }: Caller, { callId, id = randomUUID(), ...input }: ReportToolCallRequest): Promise<void> {
    const attemptId = attemptOf(callId);
    const call = { id, name: input.name, ...reportedArguments(input.arguments) };
    const result = input.result == null ? {} : { result: input.result };
    await this.database.transaction(async () => {
      const attempt = isUuid(attemptId) ? await this.repository.lock(attemptId, workspaceId) : undefined;
      if (!attempt) throw notFound(about('callId', UNKNOWN));
      const { reports, startedMs, nowMs } = attempt;
      if (!reports) throw conflict('The call has ended: its tool calls are reported while it goes on');
      // Clocks differ: only a time of the call counts.
      const given = Date.parse(input.at ?? '');
      const isGiven = given >= startedMs && given <= nowMs + SKEW_MS;
      const time = {
        at: Math.trunc(isGiven ? Math.min(given, nowMs) : nowMs),
        ...(!isGiven && { isArrival: true as const }),
      };
      const index = reports.findIndex((known) => isSame(known, call));
      if (index === -1 && reports.length >= MAX_REPORTED)
        throw conflict(`At most ${MAX_REPORTED} tool calls of a call can be reported`);
      const report: Report = { ...call, ...result, ...(reports[index] ?? time) };
      await this.repository.store(attemptId, index === -1 ? [...reports, report] : reports.with(index, report));
    });
  }

  /**
   * Notes that a report of a call was refused: what was not reported may have been called all the same.
   * @param callId as it was given; without one it may be the report of any call of the workspace
   */
  async refuse({ workspaceId }: Caller, callId: unknown, error: unknown): Promise<void> {
    const why = error instanceof DomainError ? (error.issues?.[0]?.message ?? error.message) : 'internal error';
    const attemptId = typeof callId === 'string' ? attemptOf(callId) : null;
    if (attemptId === null || isUuid(attemptId))
      await this.repository.refuse(attemptId, workspaceId, sanitizeText(why.slice(0, MAX_REFUSAL)));
  }

  /** Reports are accepted from now on. */
  start(attempt: StartedAttempt): Promise<void> {
    return this.repository.start(attempt);
  }

  /** The reports of an attempt, which accepts no more from then on. */
  take(attemptId: string): Promise<Reports> {
    return this.repository.take(attemptId);
  }

  /** Deletes the reports of attempts that were broken off. */
  forget(): Promise<void> {
    return this.repository.forget();
  }
}

const UNKNOWN = 'is that of no call over a connection of this workspace with the option toolCalls: reported';
