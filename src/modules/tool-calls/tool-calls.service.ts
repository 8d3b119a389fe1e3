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

/** Every attempt has one; another `CallSid` is that of a real call at Twilio. */
const RANDOM_UUID = /^.{14}4.{4}[89ab]/i;

const isSame = ({ at: _, isArrival: __, result: ___, ...known }: Report, call: object): boolean =>
  isDeepStrictEqual(known, call);

/** Whether a report with the `id`, `name` and `arguments` of another one has another time or another result. */
const isOther = (known: Report, { at, isArrival, result }: Pick<Report, 'at' | 'isArrival' | 'result'>): boolean =>
  (!known.isArrival && !isArrival && Math.abs(known.at - at) > SKEW_MS) ||
  (known.result !== undefined && result !== undefined && !isDeepStrictEqual(known.result, result));

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
      const known = reports[index];
      if (known && isOther(known, { ...result, ...time })) throw conflict(SAME_ID);
      if (index === -1 && reports.length >= MAX_REPORTED)
        throw conflict(`At most ${MAX_REPORTED} tool calls of a call can be reported`);
      const report: Report = { ...call, ...result, ...(known ?? time) };
      await this.repository.store(attemptId, index === -1 ? [...reports, report] : reports.with(index, report));
    });
  }

  /**
   * Notes that a report of a call was refused: what was not reported may have been called all the same.
   * @param given the `callId`; without one of a known call it may be the report of any call of the workspace
   */
  async refuse({ workspaceId }: Caller, given: unknown, error: unknown): Promise<void> {
    const why = error instanceof DomainError ? (error.issues?.[0]?.message ?? error.message) : 'internal error';
    const callId = typeof given === 'string' ? given : '';
    const attemptId = attemptOf(callId);
    if (attemptId !== callId && !RANDOM_UUID.test(attemptId)) return;
    const known = isUuid(attemptId) ? attemptId : null;
    await this.repository.refuse(known, workspaceId, sanitizeText(why.slice(0, MAX_REFUSAL)));
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
const SAME_ID =
  'Another report has the same id, name and arguments with another time (at) or result: give each tool call an id of its own';
