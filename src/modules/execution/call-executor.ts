import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { OutboundClient } from '../../../libs/outbound-http/index.js';
import {
  unstartedCall,
  type CallResult,
  executeCall,
  failure,
  isSuspect,
  type LanguageModel,
  RECORDING,
  rejudge,
  reportsTools,
  transportTo,
  variablesOf,
} from '../../../libs/simulation/index.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { ConnectionService } from '../agents/connection/connection.service.js';
import { DiallingService } from '../agents/connection/dialling.service.js';
import { CapacityService } from '../capacity/capacity.service.js';
import { DialLimitsService } from '../capacity/dial-limits.service.js';
import { NumbersService } from '../capacity/numbers.service.js';
import { RecordingsService } from '../recordings/recordings.service.js';
import { ImportedCalls } from '../call-imports/imported-calls.service.js';
import { RecordedCalls } from '../rejudging/recorded-calls.service.js';
import { evaluationOf, type Judged, judgedBy } from '../runs/runs.service.js';
import type { EvaluationSnapshot } from '../runs/run-evaluation.entity.js';
import { AgentWords } from './agent-words.js';
import { CallMetrics } from './call-metrics.js';
import { CallerVoices } from './caller-voices.js';
import { ModelService } from './model.service.js';
import { ToolReports } from './tool-reports.js';
import { type CallPlan, type ClaimedCall, ExecutionRepository } from './execution.repository.js';

const CACHE_SIZE = 500;

/** What is reported while a call is executed. */
export interface CallEvents {
  /** What is known of a call that the signal aborts. */
  readonly onAborted: (result: CallResult) => void;
  /** A voice call has hung up, though its result needs more time. */
  readonly onHangUp: () => void;
  /** The call took place before, and is only judged. */
  readonly onJudged: () => void;
}

/** Executes single calls with the agents, language model and network settings of the service. */
@Injectable()
export class CallExecutor {
  private readonly model: LanguageModel | undefined;
  /** Plans never change. */
  private readonly plans: LRUCache<string, CallPlan, ClaimedCall>;

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly client: OutboundClient,
    private readonly repository: ExecutionRepository,
    private readonly connections: ConnectionService,
    private readonly voices: CallerVoices,
    private readonly words: AgentWords,
    private readonly recordings: RecordingsService,
    private readonly recordedCalls: RecordedCalls,
    private readonly importedCalls: ImportedCalls,
    private readonly metrics: CallMetrics,
    models: ModelService,
    private readonly capacity: CapacityService,
    private readonly numbers: NumbersService,
    private readonly dialling: DiallingService,
    private readonly dialLimits: DialLimitsService,
    private readonly toolReports: ToolReports,
  ) {
    this.model = models.model;
    this.plans = new LRUCache({
      max: CACHE_SIZE,
      fetchMethod: (_key, _stale, { context: { runId, evaluationId } }) => repository.plan(runId, evaluationId),
    });
  }

  /**
   * Calls the agent, or judges a recorded call, which counts in no metrics of calls.
   * @throws the signal's reason; database errors before the call begins
   */
  async execute(call: ClaimedCall, signal: AbortSignal, events: CallEvents): Promise<CallResult> {
    const { id, runId, evaluationId } = call;
    const plan = await this.plans.forceFetch(`${runId} ${evaluationId}`, { context: call });
    const snapshot = evaluationOf(plan.snapshot, plan.hasVariables ? await this.repository.variables(id) : null);
    const judged = judgedBy(plan.agent, snapshot);
    if (plan.derivedKind !== null || call.protocol === RECORDING) events.onJudged();
    if (plan.derivedKind === 'remeasure') return this.recordedCalls.remeasure(id, judged, signal);
    if (plan.derivedKind === 'rejudge') return this.rejudge(id, judged, signal);
    const { protocol } = call;
    if (protocol === RECORDING) return this.import(call, judged, snapshot, signal);
    return this.metrics.observe(protocol, signal, () => this.call(call, plan, snapshot, signal, events));
  }

  private async call(
    claimed: ClaimedCall,
    { agent, agentVariables, assistantVersion }: CallPlan,
    snapshot: EvaluationSnapshot,
    signal: AbortSignal,
    { onAborted, onHangUp }: CallEvents,
  ): Promise<CallResult> {
    const { id, claimId, runId, workspaceId, agentId, protocol, isRepeated } = claimed;
    // The only time that a call reads its connection. Not cached: address, headers, options and key are those of one moment.
    const endpoint = await this.connections.endpoint(agentId, protocol);
    if (!endpoint) return unstartedCall('none', failure('url_refused', noAddress(agent.provider)));
    if (endpoint.protocol !== protocol) {
      return unstartedCall('none', failure('connection_changed', otherProtocol(protocol, endpoint.protocol)));
    }
    if (await this.capacity.correct(claimed, endpoint)) {
      return unstartedCall('none', failure('platform_busy', 'its connection has changed'));
    }
    const answersAt = await this.numbers.leaseFor(agent, endpoint, claimId);
    if (answersAt === null)
      return unstartedCall(protocol, failure('platform_busy', 'all numbers of SIP_ACCOUNTS are in use or rest'));
    const dialled = this.dialling.dial(endpoint, { ...agent, phoneNumber: snapshot.phoneNumber, callId: claimId });
    if ('refusal' in dialled) return unstartedCall('none', failure('dial_limit', dialled.refusal));
    const judged = judgedBy(agent, snapshot);
    await this.dialLimits.turn(dialled, signal);
    const dialling = { workspaceId, ...dialled, seconds: judged.definition.maxDurationSeconds };
    const { ledger, hungUp } = this.dialLimits.limit(await this.capacity.dial(claimed, dialled.endpoint), dialling);
    const transport = transportTo(dialled.endpoint, {
      client: this.client,
      workspaceId,
      // New for each attempt, and known to the database even if this process dies.
      callId: claimId,
      assistantId: agent.assistantId,
      phoneNumber: snapshot.phoneNumber,
      variables: { ...variablesOf(endpoint.options), ...judged.definition.agentVariables, ...agentVariables },
      mockedTools: [...new Set(judged.definition.toolResults.map(({ tool }) => tool))],
      toolResults: judged.definition.toolResults,
      ...(assistantVersion !== null && { assistantVersion }),
      ...(ledger && { ledger }),
      ...(answersAt && { answersAt }),
      isSuspect: isRepeated && isSuspect(await this.repository.attempts(id)),
    });
    const takeReports = reportsTools(endpoint.options) && (await this.toolReports.start(claimed, signal));
    const options = {
      ...judged,
      transport,
      signal,
      onAborted,
      ...(takeReports && { takeReports }),
      ...(this.model && { model: this.model }),
      judgeSamples: this.settings.judgeSamples,
    };
    if (!('call' in transport)) return executeCall(options);
    const voice = await this.voices.options(workspaceId, snapshot, judged.definition);
    if ('failure' in voice) return unstartedCall(transport.name, voice.failure);
    const transcription = this.words.options(endpoint, judged.definition);
    const call = this.recordings.record({ id: claimId, runId, workspaceId }, id, transport.lineRate, (recording) =>
      executeCall({
        ...options,
        voice: {
          ...voice,
          firstSpeaker: endpoint.firstSpeaker,
          onHangUp: () => {
            hungUp();
            onHangUp();
          },
          ...(recording && { recording }),
          ...(transcription && { transcription }),
        },
      }),
    );
    return call.finally(hungUp);
  }

  private async import(
    call: ClaimedCall,
    judged: Judged,
    { appliesTo }: EvaluationSnapshot,
    signal: AbortSignal,
  ): Promise<CallResult> {
    const { model } = this;
    const { judgeSamples } = this.settings;
    const transcription = await this.connections.transcription(call.agentId);
    const words = this.words.options({ protocol: RECORDING, transcription }, judged.definition);
    const given = { ...judged, judgeSamples, ...(model && { model }), ...(appliesTo && { appliesTo }) };
    return this.importedCalls.execute(call, given, words, signal);
  }

  private async rejudge(callId: string, judged: Judged, signal: AbortSignal): Promise<CallResult> {
    const { model } = this;
    const { judgeSamples } = this.settings;
    // Another process accepted the run.
    if (!model) return notRejudged('no language model is configured (LLM_BASE_URL, LLM_MODEL)');
    const recorded = await this.recordedCalls.result(callId);
    return recorded ? rejudge({ ...judged, recorded, model, judgeSamples, signal }) : notRejudged('it was deleted');
  }
}

const notRejudged = (why: string): CallResult => unstartedCall('none', failure('not_rejudged', why));

const otherProtocol = (planned: string, current: string): string =>
  `${current} instead of ${planned}; start the run again`;

const noAddress = (provider: string): string =>
  `the agent has no connection of its own, and ${provider}_URL is not set`;
