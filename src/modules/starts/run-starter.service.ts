import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { callLanguage, caseKey, dateOrigin, withExpectations } from '../../../libs/evaluation-definition/index.js';
import { cures, explanationOf, misfits, PERSONALITY_DELETED } from '../../../libs/run-plan/index.js';
import type { Caller } from '../../platform/access/caller.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { about, conflict, invalidInput } from '../../platform/errors/domain-error.js';
import { type AgentDescription, AgentsService } from '../agents/agents.service.js';
import { ConnectionService, type PlannedConnection } from '../agents/connection/connection.service.js';
import { CapacityService } from '../capacity/capacity.service.js';
import { DialLimitsService } from '../capacity/dial-limits.service.js';
import { EvaluationsService, type SelectedEvaluation } from '../evaluations/evaluations.service.js';
import { PersonalitiesService } from '../personalities/personalities.service.js';
import { BaselinesService } from '../comparison/baselines.service.js';
import type { RunPlan, StartRunRequest } from './dto/start-run.requests.js';
import type { RunDetails } from '../runs/dto/run.responses.js';
import type { PlannedDialling } from '../runs/run.entity.js';
import { evaluationOf, hasEnded, RunsService, toDetails } from '../runs/runs.service.js';
import {
  callCount,
  countedFrom,
  DEFAULTS,
  MAX_CALLS,
  maxPaidSeconds,
  type Plan,
  type PlannedCase,
  type PlannedEvaluation,
} from './plan.js';
import { planWarnings } from './plan-warnings.js';
import { refuse } from './refusal.js';
import { RunWriterService } from './run-writer.service.js';
import { StartRepository } from './start.repository.js';

export { countedFrom };

const IMPORTED =
  'The calls of the run were imported; nothing can be run again. To call the agent, start a run of the evaluation';
const PRODUCTION = 'The calls of the run are those of real callers; nothing can be run again. Start a run of tests';

/** What starts a run on behalf of a user. */
export interface StartingSchedule {
  readonly id: string;
  /** @param maxPaidSeconds the most seconds that the platform can bill; null if it does not bill @throws DomainError to refuse it */
  readonly admit: (maxPaidSeconds: number | null) => void;
}

interface PlannedRun {
  readonly plan: Plan;
  readonly choice: PlannedConnection;
}

/** Plans and starts runs. */
@Injectable()
export class RunStarterService {
  constructor(
    private readonly database: Database,
    private readonly runs: RunsService,
    private readonly repository: StartRepository,
    private readonly writer: RunWriterService,
    private readonly agents: AgentsService,
    private readonly evaluations: EvaluationsService,
    private readonly personalities: PersonalitiesService,
    private readonly connections: ConnectionService,
    private readonly baselines: BaselinesService,
    private readonly capacity: CapacityService,
    private readonly dialLimits: DialLimitsService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * The plan of a run, without starting it.
   * @throws DomainError NOT_FOUND or FORBIDDEN for the agent; BAD_REQUEST or FORBIDDEN for the selection; CONFLICT if the
   *   run cannot be started now
   */
  async plan(caller: Caller, agentId: string, request: StartRunRequest): Promise<RunPlan> {
    const agent = await this.agents.describe(caller, agentId);
    return this.describe(agent, await this.makePlan(caller, agent, request));
  }

  private async describe(agent: AgentDescription, { plan, choice }: PlannedRun): Promise<RunPlan> {
    const dialling = await this.requireDialled(agent, plan, choice);
    const { evaluations, baselines, ...settings } = plan;
    const { protocol, medium, transcription, reportsTools } = choice;
    return {
      agentId: agent.id,
      ...settings,
      protocol,
      medium,
      baselineRunId: baselines.gate?.id ?? null,
      totalCalls: callCount(plan),
      maxPaidSeconds: maxPaidSeconds(plan, protocol),
      dialling,
      evaluations: evaluations.map(({ id, snapshot, cases }) => ({
        id,
        key: snapshot.key,
        name: snapshot.name,
        critical: snapshot.critical,
        provisional: snapshot.provisional ?? false,
        tags: [...snapshot.tags],
        personalityId: snapshot.personality.id,
        caller: snapshot.definition.script.length > 0 ? 'scripted' : 'generated',
        calls: cases.length * settings.repeat,
        cases: [...cases],
        explanation: explanationOf({ snapshot, cases }),
      })),
      warnings: planWarnings(plan, {
        protocol,
        transcription,
        reportsTools,
        prompt: agent.prompt,
        connectionOptions: await this.connections.optionsOf(agent.id),
        scheme: choice.scheme,
        hasModel: this.settings.languageModel !== undefined,
        speechServers: this.settings.speechServers,
        concurrency: { text: this.settings.workerConcurrency, voice: this.settings.voiceConcurrency },
      }),
    };
  }

  /**
   * Writes the run and its calls in one transaction.
   * @param schedule that starts it
   * @throws DomainError as `plan` does
   */
  async start(
    caller: Caller,
    agentId: string,
    request: StartRunRequest,
    schedule?: StartingSchedule,
  ): Promise<RunDetails> {
    return this.database.transaction(async () => {
      // The lock prevents the agent from being deleted concurrently.
      const agent = await this.agents.describe(caller, agentId, { lock: true });
      const { plan, choice } = await this.makePlan(caller, agent, request);
      schedule?.admit(maxPaidSeconds(plan, choice.protocol));
      return this.write(caller, agent, plan, choice, schedule?.id);
    });
  }

  /**
   * Starts a run with the plan of an earlier one, with the evaluations and personalities stored in it.
   * @param onlyFailed only cases with a call that did not pass
   * @throws DomainError NOT_FOUND or FORBIDDEN for the run; CONFLICT if its calls were imported, its agent or a personality
   *   was deleted, or there is nothing to run
   */
  async rerun(caller: Caller, runId: string, onlyFailed: boolean): Promise<RunDetails> {
    return this.database.transaction(async () => {
      const { agent, plan, choice } = await this.makeRerun(caller, runId, onlyFailed);
      return this.write(caller, agent, plan, choice);
    });
  }

  /** The plan of a rerun, without starting it. @throws DomainError as `rerun` does */
  async planRerun(caller: Caller, runId: string, onlyFailed: boolean): Promise<RunPlan> {
    return this.database.transaction(async () => {
      const { agent, ...planned } = await this.makeRerun(caller, runId, onlyFailed);
      return this.describe(agent, planned);
    });
  }

  private async makeRerun(
    caller: Caller,
    runId: string,
    onlyFailed: boolean,
  ): Promise<PlannedRun & { agent: AgentDescription }> {
    const run = await this.runs.require(caller, runId);
    if (onlyFailed && !hasEnded(run.status)) throw conflict('The run has not ended yet');
    if (run.day !== null) throw conflict(PRODUCTION);
    if (await this.repository.hasImportedCalls(run.id)) throw conflict(IMPORTED);
    if (await this.agents.isDeleted(run.agentId)) throw conflict('The agent of the run was deleted');
    const agent = await this.agents.describe(caller, run.agentId, { lock: true });
    const choice = await this.connections.choose(agent, run.medium);
    const evaluations = (await this.repository.readPlan(run.id, onlyFailed)).map((one) => countedFrom(one, new Date()));
    if (evaluations.length === 0) {
      // A run without cases was deleted since it was read.
      await this.runs.require(caller, run.id);
      throw conflict('Every call of the run has passed');
    }
    await this.requirePersonalities(evaluations.map(({ snapshot }) => [snapshot.name, snapshot.personality.id]));
    this.requireRunnable(evaluations, choice);
    const { name, medium, repeat, concurrency, maxPaidAttempts, agentVariables, assistantVersion } = run;
    const { minimumScore, minimumPassRate, allowedUncounted, notWorseThan } = run;
    const gate = { minimumScore, minimumPassRate, allowedUncounted, notWorseThan };
    const baselines = await this.baselines.ofRerun(run, evaluations);
    // The agent may have changed since, so its version is unknown.
    const ofAgent = { agentVersion: null, agentVariables, assistantVersion };
    const settings = { name, medium, repeat, concurrency, maxPaidAttempts, ...ofAgent, ...gate };
    return { agent, plan: { ...settings, evaluations, baselines }, choice };
  }

  /**
   * An evaluation as a run has it.
   * @throws DomainError BAD_REQUEST or FORBIDDEN for the evaluation; CONFLICT if its personality was deleted
   */
  async evaluation(caller: Caller, agent: AgentDescription, id: string): Promise<PlannedEvaluation> {
    const selected = await this.evaluations.select(caller, agent.id, { ids: [id] });
    return (await this.planned(agent, selected))[0]!;
  }

  /** The evaluations that judge production calls, with the values of their variables. */
  async forProduction(caller: Caller, agent: AgentDescription): Promise<PlannedEvaluation[]> {
    const selected = await this.evaluations.select(caller, agent.id, { scopes: ['production', 'both'] });
    const personalities = await this.personalities.describe(selected.map(({ personalityId }) => personalityId));
    // It plays no part on such calls.
    const deleted = (id: string) => ({ id, name: 'Deleted', description: '', prompt: '', temperature: 0 });
    const judging = selected.map((one) => ({ ...one, provisional: false }));
    const planned = this.snapshots(agent, judging, (id) => personalities.get(id) ?? deleted(id));
    return planned.map(({ id, snapshot, cases }) => ({
      id,
      cases: [{ key: caseKey(id, null), variables: null }],
      snapshot: evaluationOf(snapshot, cases[0]!.variables, { withDates: false }),
    }));
  }

  private async makePlan(caller: Caller, agent: AgentDescription, request: StartRunRequest): Promise<PlannedRun> {
    const { agentVersion = null, agentVariables = {}, assistantVersion = null, medium = null } = request;
    const { minimumScore = null, minimumPassRate = null, allowedUncounted = 0 } = request;
    const notWorseThan = request.notWorseThan?.toLowerCase() ?? null;
    const { repeat = DEFAULTS.repeat, concurrency = DEFAULTS.concurrency } = request;
    const { maxPaidAttempts = DEFAULTS.maxPaidAttempts } = request;
    const selected = await this.select(caller, agent.id, request);
    const choice = await this.connections.choose(agent, medium);
    const evaluations = await this.planned(agent, selected);
    this.requireRunnable(evaluations, choice);
    const name = request.name ?? `Run of ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`;
    const calls = callCount({ evaluations, repeat });
    if (calls > MAX_CALLS) {
      throw invalidInput(about('repeat', `must be lower: a run can have at most ${MAX_CALLS} calls, not ${calls}`));
    }
    const gate = { minimumScore, minimumPassRate, allowedUncounted, notWorseThan };
    const baselines = await this.baselines.find(caller, agent.id, notWorseThan, evaluations);
    const ofAgent = { agentVersion, agentVariables, assistantVersion };
    const settings = { name, medium, repeat, concurrency, maxPaidAttempts, ...ofAgent, ...gate };
    return { plan: { ...settings, evaluations, baselines }, choice };
  }

  private async select(
    caller: Caller,
    agentId: string,
    { evaluationIds: ids, evaluationKeys: keys, tags }: StartRunRequest,
  ): Promise<SelectedEvaluation[]> {
    if (tags && (ids || keys)) {
      throw invalidInput(`tags must not be given together with ${ids ? 'evaluationIds' : 'evaluationKeys'}`);
    }
    if (ids && keys) throw invalidInput(about('evaluationKeys', 'must not be given together with evaluationIds'));
    const selected = await this.evaluations.select(caller, agentId, {
      ...(ids && { ids }),
      ...(keys && { keys }),
      ...(tags && { tags }),
    });
    const tests = selected.filter(({ scope }) => scope !== 'production');
    if (tests.length > 0) return tests;
    if (selected.length > 0) throw conflict('All selected evaluations have the scope production: runs leave them out');
    if (tags) throw invalidInput(about('tags', 'match no evaluation of the agent'));
    throw conflict('The agent has no evaluations to run');
  }

  private async planned(
    agent: AgentDescription,
    selected: readonly SelectedEvaluation[],
  ): Promise<PlannedEvaluation[]> {
    const personalities = await this.requirePersonalities(selected.map((one) => [one.name, one.personalityId]));
    return this.snapshots(agent, selected, (id) => personalities.get(id)!);
  }

  private snapshots(
    { language }: AgentDescription,
    selected: readonly SelectedEvaluation[],
    personalityOf: (id: string) => PlannedEvaluation['snapshot']['personality'],
  ): PlannedEvaluation[] {
    const at = new Date().toISOString();
    return selected.map((evaluation) => {
      const callsLanguage = callLanguage(evaluation.language, language);
      const { id, key, name, critical, tags, scenarioText, generalInstructions, vendorCallPhoneNumber } = evaluation;
      const { script, checks, criteria, history, toolResults, maxTurns, maxDurationSeconds, ...further } = evaluation;
      const { conditions, turnEndMs, fillers, agentVariables, appliesTo, provisional } = further;
      return {
        id,
        cases: casesOf(evaluation),
        snapshot: {
          key,
          name,
          critical,
          tags,
          scenarioText,
          generalInstructions,
          language: callsLanguage,
          dates: dateOrigin(evaluation.timezone, callsLanguage, at),
          hasOwnLanguage: evaluation.language !== null,
          phoneNumber: vendorCallPhoneNumber,
          personality: personalityOf(evaluation.personalityId),
          ...(appliesTo && { appliesTo }),
          ...(provisional && { provisional }),
          definition: withExpectations({
            script,
            checks,
            criteria,
            history,
            toolResults,
            maxTurns,
            maxDurationSeconds,
            conditions,
            turnEndMs,
            fillers,
            agentVariables,
          }),
        },
      };
    });
  }

  /** @param uses names of evaluations with their personalities @throws DomainError CONFLICT that lists the evaluations */
  private async requirePersonalities(uses: readonly (readonly [name: string, personalityId: string])[]) {
    const known = await this.personalities.describe([...new Set(uses.map(([, id]) => id))]);
    const deleted = uses.filter(([, id]) => !known.has(id));
    refuse(deleted.map(([name]) => ({ name, reason: PERSONALITY_DELETED })));
    return known;
  }

  /**
   * Checks that the agent's protocol and the configured engines provide what the evaluations need.
   * @throws DomainError CONFLICT that lists the evaluations
   */
  private requireRunnable(evaluations: readonly PlannedEvaluation[], choice: PlannedConnection): void {
    const { languageModel, speechServers } = this.settings;
    const equipment = { ...choice, hasModel: languageModel !== undefined, speechServers };
    refuse(misfits(evaluations, equipment), cures(evaluations, equipment));
  }

  /**
   * Checks that the calls may dial what they dial, and that the workspace has enough of them left today.
   * @returns the telephone numbers that ring; null without any
   * @throws DomainError CONFLICT
   */
  private async requireDialled(
    agent: AgentDescription,
    { evaluations, repeat, maxPaidAttempts }: Plan,
    { protocol }: PlannedConnection,
  ): Promise<PlannedDialling | null> {
    const wanted = evaluations.map(({ snapshot }) => snapshot.phoneNumber);
    const dialled = await this.connections.dial(agent, protocol, wanted);
    if (!dialled) return null;
    refuse(
      dialled.flatMap((one, index) =>
        'refusal' in one ? [{ name: evaluations[index]!.snapshot.name, reason: one.refusal }] : [],
      ),
    );
    const usage = { calls: 0, seconds: 0 };
    const numbers = new Map<string, 'agent' | 'evaluation'>();
    for (const [index, { cases, snapshot }] of evaluations.entries()) {
      const one = dialled[index]!;
      if ('refusal' in one || one.number === undefined) continue;
      numbers.set(one.number, one.isOther ? 'evaluation' : 'agent');
      usage.calls += cases.length * repeat;
      usage.seconds += cases.length * repeat * snapshot.definition.maxDurationSeconds;
    }
    if (numbers.size === 0) return null;
    await this.dialLimits.requireRoom(agent.workspaceId, usage);
    const { calls, seconds } = usage;
    const ringing = [...numbers].map(([number, of]) => ({ number, of }));
    return { numbers: ringing, calls, maxMinutes: Math.ceil((seconds * maxPaidAttempts) / 60) };
  }

  private async write(
    caller: Caller,
    agent: AgentDescription,
    plan: Plan,
    choice: PlannedConnection,
    scheduleId: string | null = null,
  ): Promise<RunDetails> {
    const { workspaceId, userId } = caller;
    const { evaluations, baselines, ...settings } = plan;
    const { id: agentId, provider, assistantId, type } = agent;
    await this.writer.requireRoom(agentId);
    const dialling = await this.requireDialled(agent, plan, choice);
    const totalCalls = callCount(plan);
    const planned = {
      id: randomUUID(),
      workspaceId,
      agentId,
      userId,
      ...settings,
      totalCalls,
      baselineRunId: baselines.gate?.id ?? null,
      scheduleId,
      agentSnapshot: { name: agent.name, provider, assistantId, type, dialling },
    };
    const { run } = await this.writer.write(planned, evaluations, choice);
    await this.baselines.store(run.id, baselines);
    const endpoint = await this.connections.endpoint(agentId, choice.protocol);
    if (endpoint) await this.capacity.store(agentId, endpoint);
    return toDetails(run, { pending: totalCalls });
  }
}

/** One per row of variables, in their order. */
const casesOf = ({ id, variables }: SelectedEvaluation): PlannedCase[] =>
  (variables.length > 0 ? variables : [null]).map((row) => ({ key: caseKey(id, row), variables: row }));
