import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { normalise } from '../../../../libs/evaluation-definition/index.js';
import { OutboundClient } from '../../../../libs/outbound-http/index.js';
import {
  unstartedCall,
  type CallResult,
  executeCall,
  chatCompletions,
  failure,
  LanguageModel,
} from '../../../../libs/simulation/index.js';
import { SETTINGS } from '../../../platform/config/settings.module.js';
import type { LanguageModelSetting, Settings } from '../../../platform/config/settings.js';
import { AgentsService } from '../../agents/agents.service.js';
import { type CallPlan, type ClaimedCall, ExecutionRepository } from './execution.repository.js';

const CACHE_SIZE = 500;
/** How long an agent's key is cached, in milliseconds. */
const KEY_TTL_MS = 2_000;

/** Executes single calls with the agents, language model and network settings of the service. */
@Injectable()
export class CallExecutor {
  private readonly model: LanguageModel | undefined;
  /** Plans never change. */
  private readonly plans: LRUCache<string, CallPlan, ClaimedCall>;
  private readonly keys: LRUCache<string, { readonly apiKey: string | undefined }>;

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly client: OutboundClient,
    repository: ExecutionRepository,
    agents: AgentsService,
  ) {
    this.model = settings.languageModel && languageModel(settings.languageModel);
    this.plans = new LRUCache({
      max: CACHE_SIZE,
      fetchMethod: (_key, _stale, { context: { runId, evaluationId } }) => repository.plan(runId, evaluationId),
    });
    this.keys = new LRUCache({
      max: CACHE_SIZE,
      ttl: KEY_TTL_MS,
      fetchMethod: async (agentId) => ({ apiKey: await agents.credential(agentId) }),
    });
  }

  /** @throws the signal's reason; database errors before the call begins */
  async execute(call: ClaimedCall, signal: AbortSignal): Promise<CallResult> {
    const { runId, evaluationId, agentId } = call;
    const plan = await this.plans.forceFetch(`${runId} ${evaluationId}`, { context: call });
    const { snapshot, agent } = plan;
    const { protocol, url } = this.settings.agentProviders[agent.provider];
    // The process that started the run may have other settings than this one.
    if (url === undefined) return unstartedCall(protocol, failure('url_refused', `${agent.provider}_URL is not set`));
    const { apiKey } = await this.keys.forceFetch(agentId);
    return executeCall({
      // jsonb does not preserve the order of properties.
      definition: normalise(snapshot.definition),
      scenario: snapshot,
      personality: snapshot.personality,
      transport: chatCompletions({
        client: this.client,
        url,
        // The address belongs to the operator, not to the workspace.
        shownUrl: `${agent.provider}_URL`,
        // New for each attempt, and known to the database even if this process dies.
        callId: call.claimId,
        assistantId: agent.assistantId,
        phoneNumber: snapshot.phoneNumber,
        ...(apiKey !== undefined && { apiKey }),
      }),
      signal,
      ...(this.model && { model: this.model }),
      judgeSamples: this.settings.judgeSamples,
    });
  }
}

function languageModel({ baseUrl, model, apiKey, prices }: LanguageModelSetting): LanguageModel {
  return new LanguageModel({
    baseUrl,
    shownUrl: 'LLM_BASE_URL',
    model,
    ...(apiKey !== undefined && { apiKey }),
    ...(prices && { prices }),
  });
}
