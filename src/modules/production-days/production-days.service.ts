import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { caseKey, criteriaIn, PERSONAL_DATA_KINDS } from '../../../libs/evaluation-definition/index.js';
import {
  attemptOf,
  type CallResult,
  type CallSound,
  type MonitoredAgent,
  PersonalDataRedaction,
  type ProductionCall,
  type ProductionCalls,
  type ProductionJudging,
  rejudge,
  responseLatencies,
  type TakenCall,
} from '../../../libs/simulation/index.js';
import { Clock } from '../../platform/clock.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { sequentialIds } from '../../platform/database/sequential-ids.js';
import { inBatches } from '../../platform/queue/in-batches.js';
import { defineJob } from '../../platform/queue/job.js';
import { Queue } from '../../platform/queue/queue.js';
import { type AgentDescription, AgentsService } from '../agents/agents.service.js';
import {
  type JudgingOptions,
  judgeProduction,
  type ProductionWords,
  recordedRun,
  UNJUDGED,
} from '../call-imports/call-imports.service.js';
import { CaseHistoryService } from '../case-history/case-history.service.js';
import { ModelService } from '../execution/model.service.js';
import { RecordingImportsService } from '../recordings/imports/recording-imports.service.js';
import { RecordingsService } from '../recordings/recordings.service.js';
import { evaluationOf, judgedBy } from '../runs/runs.service.js';
import { RunStarterService } from '../starts/run-starter.service.js';
import { RunWriterService } from '../starts/run-writer.service.js';
import { DefaultEvaluation } from './default-evaluation.js';
import {
  type AwaitedCall,
  type Counted,
  type DayEvaluation,
  ProductionDaysRepository,
} from './production-days.repository.js';

/** Calls of an evaluation on a day. */
const MOST_CALLS = 10_000;
/** How long after its day, or after its first call if that is later, a run ends. A call that comes later joins it all the same. */
const OPEN_MS = 60 * 60_000;
const DAY_MS = 24 * 60 * 60_000;
/** As long as the platforms' calls are known. */
const KEPT_DAYS = 40;
const PLANS = 50;
/** How calls are judged unless the monitoring of the agent says otherwise. */
export const DEFAULT_JUDGING = {
  judge: false,
  maxJudgedPerDay: 500,
  redact: PERSONAL_DATA_KINDS,
} as const satisfies ProductionJudging;

const NO_VERDICT = { outcome: null, score: null, reason: null, attempt: [] } as const;

/** Forgets which calls were taken long ago. Daily. */
const FORGET = defineJob<object>({ name: 'production.forget', kind: 'maintenance', cron: '52 4 * * *' });

/** The run of a day. */
interface Day {
  readonly agent: AgentDescription;
  readonly runId: string;
  readonly evaluations: readonly DayEvaluation[];
}

/** What an evaluation says of a call; no result beyond the most of a day. */
interface Judged {
  readonly id: string;
  readonly result?: CallResult;
  /** Whether its criteria were left out because as many as may be were judged. */
  readonly isUnjudged: boolean;
}

/** Judges production calls in memory, and keeps them in a run for each agent and day (UTC). */
@Injectable()
export class ProductionDays implements ProductionCalls, BeforeApplicationShutdown {
  private readonly over = new AbortController();
  /** The evaluations of a day do not change. */
  private readonly plans = new LRUCache<string, DayEvaluation[]>({ max: PLANS });

  constructor(
    private readonly database: Database,
    private readonly repository: ProductionDaysRepository,
    private readonly agents: AgentsService,
    private readonly starter: RunStarterService,
    private readonly writer: RunWriterService,
    private readonly history: CaseHistoryService,
    private readonly defaults: DefaultEvaluation,
    private readonly models: ModelService,
    private readonly imports: RecordingImportsService,
    private readonly recordings: RecordingsService,
    private readonly clock: Clock,
    @Inject(SETTINGS) private readonly settings: Settings,
    queue: Queue,
  ) {
    queue.handle(FORGET, async (_, { signal }) => {
      await inBatches(() => this.repository.forget(KEPT_DAYS), signal);
    });
  }

  beforeApplicationShutdown(): void {
    this.over.abort(new Error('The service stops'));
  }

  /** Prepares the evaluations of an agent whose calls begin to be fetched. @throws DomainError NOT_FOUND for a deleted agent */
  begin({ id, workspaceId }: MonitoredAgent): Promise<void> {
    return this.database.transaction(async () => {
      await this.defaults.ensure(await this.agents.describe({ workspaceId }, id, { lock: true }));
    });
  }

  /** @throws DomainError NOT_FOUND for a deleted agent; Error for a call without words, and while the service stops */
  async take(
    { id, workspaceId, judging = DEFAULT_JUDGING }: MonitoredAgent,
    call: ProductionCall,
    isAwaited = false,
  ): Promise<TakenCall> {
    if (!call.said) throw new Error(`The words of call ${call.id} are not known`);
    const day = await this.open(workspaceId, id, call);
    if (!day) return 'known';
    const redaction = new PersonalDataRedaction(judging.redact);
    const judged = await this.judge(day, call, judging, redaction, isAwaited);
    return this.store(day, call, judged, redaction, isAwaited);
  }

  /** @throws DomainError NOT_FOUND for a deleted agent; Error while the service stops */
  async end(
    { id, workspaceId, judging = DEFAULT_JUDGING }: MonitoredAgent,
    externalId: string,
    sound: CallSound,
  ): Promise<void> {
    const agent = await this.agents.describe({ workspaceId }, id);
    for (const call of await this.repository.awaited(agent.id, externalId)) {
      await this.endOne(agent, call, sound, judging);
    }
  }

  private async endOne(
    agent: AgentDescription,
    call: AwaitedCall,
    sound: CallSound,
    judging: ProductionJudging,
  ): Promise<void> {
    const { id, claimId, runId, evaluationId } = call;
    const evaluation = (await this.evaluations(runId)).find((one) => one.id === evaluationId);
    if (!evaluation) return;
    const counts = await this.repository.counts(runId);
    const asked = counts.reduce((sum, { judged }) => sum + judged, 0);
    const { isUnjudged, options } = this.asking(evaluation, judging, asked);
    const result = await this.measured(agent, evaluation, call, sound, judging, options);
    const { outcome, score, reason } = result;
    const iso = { startedAt: call.startedAt.toISOString(), endedAt: call.endedAt.toISOString() };
    const ended = { id, claimId, outcome, score, reason, latencies: result.voice ? responseLatencies(result) : [] };
    await this.database.transaction(async () => {
      const run = await this.repository.lock(runId);
      const isEnded = await this.repository.end({ ...ended, attempt: [attemptOf(result, iso)], result });
      if (!run || !isEnded) return;
      const judged = Number(result.versions.judgePrompt !== null);
      const none = { taken: 0, notApplicable: 0, overLimit: 0 };
      await this.repository.count(runId, [{ id: evaluationId, ...none, judged, unjudged: Number(isUnjudged) }]);
      if (run.endedAt !== null) await this.history.recount(runId);
    });
  }

  /** By the sound of a call with its words, or by the words alone, of which the checks were decided. */
  private async measured(
    agent: AgentDescription,
    evaluation: DayEvaluation,
    { id: callId, claimId, runId, decided }: AwaitedCall,
    sound: CallSound,
    { redact }: ProductionJudging,
    options: Pick<JudgingOptions, 'model' | 'unjudged'>,
  ): Promise<CallResult> {
    const { signal } = this.over;
    const { judgeSamples } = this.settings;
    let unmeasured = 'unmeasured' in sound ? sound.unmeasured : undefined;
    if ('file' in sound) {
      const { call, file } = sound;
      const isKept = sound.isKept && (await this.recordings.hasRoom(agent.workspaceId, 1));
      const words = wordsOf(call);
      const { transcript } = words;
      const { turnEndMs } = evaluation.snapshot.definition;
      const source = {
        upload: file,
        isKept,
        channels: 'by_transcript',
        callMs: call.endedAt - call.startedAt,
        isHeard: false,
        transcript,
        turnEndMs,
      } as const;
      const given = { callId: claimId, redaction: new PersonalDataRedaction(redact), signal, judgeSamples, ...options };
      const key = { id: claimId, runId, workspaceId: agent.workspaceId };
      const found = await this.imports.import(
        ...[key, callId, source],
        ({ facts }) => judgeProduction(agent, plannedOf(evaluation), words, { ...given, facts }),
        signal,
      );
      if (!('refusal' in found)) return sound.isKept && !isKept ? { ...found, recordingOmitted: 'quota' } : found;
      unmeasured = found.refusal;
    }
    const { model } = options;
    const recorded = { ...decided, unmeasured, exchange: decided.exchange && { ...decided.exchange, callId: claimId } };
    return model
      ? rejudge({ ...judgedBy(agent, evaluationOf(evaluation.snapshot, null)), recorded, model, judgeSamples, signal })
      : recorded;
  }

  /** The run of the day on which the call ended. @returns undefined if the call was taken before */
  private open(workspaceId: string, agentId: string, { id, endedAt }: ProductionCall): Promise<Day | undefined> {
    return this.database.transaction(async () => {
      // The lock prevents two runs of a day, and that the agent is deleted concurrently.
      const agent = await this.agents.describe({ workspaceId }, agentId, { lock: true });
      if (await this.repository.isTaken(agent.id, id)) return undefined;
      const day = new Date(Math.min(endedAt, this.clock.now())).toISOString().slice(0, 10);
      const runId = (await this.repository.find(agent.id, day)) ?? (await this.write(agent, day));
      return { agent, runId, evaluations: await this.evaluations(runId) };
    });
  }

  private async evaluations(runId: string): Promise<readonly DayEvaluation[]> {
    const evaluations = this.plans.get(runId) ?? (await this.repository.plan(runId));
    this.plans.set(runId, evaluations);
    return evaluations;
  }

  /** @returns the id of the new run */
  private async write(agent: AgentDescription, day: string): Promise<string> {
    const caller = await this.defaults.ensure(agent);
    const evaluations = await this.starter.forProduction(caller, agent);
    const openUntil = new Date(Math.max(Date.parse(day) + DAY_MS, this.clock.now()) + OPEN_MS);
    const run = {
      ...recordedRun(agent),
      ...{ id: randomUUID(), userId: agent.createdByUserId, name: `Production, ${day}` },
      ...{ totalCalls: 0, repeat: MOST_CALLS, concurrency: 1 },
      ...{ origin: 'production' as const, day, openUntil },
    };
    return (await this.writer.writeDay(run, evaluations)).id;
  }

  private async judge(
    { agent, runId, evaluations }: Day,
    call: ProductionCall,
    judging: ProductionJudging,
    redaction: PersonalDataRedaction,
    isAwaited: boolean,
  ): Promise<Judged[]> {
    const counts = new Map((await this.repository.counts(runId)).map((one) => [one.id, one]));
    let asked = [...counts.values()].reduce((sum, { judged }) => sum + judged, 0);
    const found: Judged[] = [];
    for (const evaluation of evaluations) {
      const { id } = evaluation;
      // The calls of tests must not wait for those of production.
      await turn();
      if ((counts.get(id)?.taken ?? 0) >= MOST_CALLS) {
        found.push({ id, isUnjudged: false });
        continue;
      }
      // Criteria are judged once, when the call ends.
      const { isUnjudged, options } = this.asking(evaluation, judging, isAwaited ? Infinity : asked);
      const result = await judgeProduction(agent, plannedOf(evaluation), wordsOf(call), {
        ...{ callId: randomUUID(), redaction, signal: this.over.signal, judgeSamples: this.settings.judgeSamples },
        ...options,
      });
      if (result.versions.judgePrompt !== null) asked++;
      found.push({ id, result, isUnjudged: !isAwaited && isUnjudged && result.invalidity === null });
    }
    return found;
  }

  /** How the criteria of an evaluation are judged. @param asked calls of the day whose criteria were */
  private asking(
    { snapshot }: DayEvaluation,
    { judge, maxJudgedPerDay }: ProductionJudging,
    asked: number,
  ): { readonly isUnjudged: boolean; readonly options: Pick<JudgingOptions, 'model' | 'unjudged'> } {
    const { criteria, checks } = snapshot.definition;
    const isForJudge = judge && criteria.length + criteriaIn(checks).length > 0;
    const isUnjudged = isForJudge && asked >= maxJudgedPerDay;
    const { model } = this.models;
    const unjudged = isUnjudged ? UNJUDGED.limit : judge ? undefined : UNJUDGED.off;
    const options = {
      ...(isForJudge && !isUnjudged && model && { model }),
      ...(unjudged !== undefined && { unjudged }),
    };
    return { isUnjudged, options };
  }

  /** Stores all of it, or nothing. */
  private store(
    { agent, runId }: Day,
    { id: externalId, endedReason, latencies, startedAt, endedAt }: ProductionCall,
    judged: readonly Judged[],
    redaction: PersonalDataRedaction,
    isAwaited: boolean,
  ): Promise<TakenCall> {
    return this.database.transaction(async () => {
      const run = await this.repository.lock(runId);
      if (!run) throw new Error(`Run ${runId} was deleted while a call of its day was judged`);
      if (!(await this.repository.take(agent.id, externalId))) return 'known';
      const counts = new Map((await this.repository.counts(runId)).map(({ id, taken }) => [id, taken]));
      const kept = judged.flatMap(({ id, result }) =>
        result && !leavesOut(result) && (counts.get(id) ?? 0) < MOST_CALLS ? [{ id, result }] : [],
      );
      const isKept = new Set(kept.map(({ id }) => id));
      const places = await this.repository.count(
        runId,
        judged.map(({ id, result, isUnjudged }): Counted => {
          const isLeftOut = result !== undefined && leavesOut(result);
          return {
            ...{ id, taken: Number(isKept.has(id)), notApplicable: Number(isLeftOut) },
            overLimit: Number(!isLeftOut && !isKept.has(id)),
            judged: Number(result !== undefined && result.versions.judgePrompt !== null),
            unjudged: Number(isUnjudged),
          };
        }),
      );
      const at = new Map(places.map(({ id, ...place }) => [id, place]));
      const times = { startedAt: new Date(startedAt), endedAt: new Date(endedAt) };
      const ids = sequentialIds(kept.length);
      const iso = { startedAt: times.startedAt.toISOString(), endedAt: times.endedAt.toISOString() };
      const calls = kept.map(({ id, result }) => {
        const { outcome, score, reason } = result;
        const verdict = isAwaited
          ? { ...NO_VERDICT, claimId: randomUUID() }
          : { outcome, score, reason, attempt: [attemptOf(result, iso)], claimId: null };
        return { id: ids.pop()!, evaluationId: id, caseKey: caseKey(id, null), ...at.get(id)!, ...verdict, result };
      });
      const known = { endedReason: endedReason && redaction.text(endedReason), reported: latencies };
      await this.repository.insert(runId, calls, { externalId, ...known, ...times });
      if (run.endedAt !== null) await this.history.recount(runId);
      if (calls.length > 0) return isAwaited ? 'awaited' : 'judged';
      return judged.some(({ result }) => result === undefined || !leavesOut(result)) ? 'over_limit' : 'not_applicable';
    });
  }
}

/** Variables play no part on a production call. */
const plannedOf = ({ id, snapshot }: DayEvaluation) => ({
  id,
  snapshot,
  cases: [{ key: caseKey(id, null), variables: null }],
});

const wordsOf = ({ said, toolCalls, endedReason, startedAt }: ProductionCall): ProductionWords => ({
  ...{ transcript: said!, startedAt },
  ...(toolCalls && {
    toolCalls: toolCalls.map(({ result, ...tool }) => ({ ...tool, ...(result !== null && { result }) })),
  }),
  ...(endedReason !== null && { endedReason }),
});

const leavesOut = ({ invalidity }: CallResult): boolean => invalidity?.code === 'not_applicable';
