import { Injectable } from '@nestjs/common';
import { OutboundClient } from '../../../libs/outbound-http/index.js';
import { CallFailure, platformOf, sanitizeText } from '../../../libs/simulation/index.js';
import { defineJob, type JobContext } from '../../platform/queue/job.js';
import { Queue } from '../../platform/queue/queue.js';
import { ConnectionService } from '../agents/connection/connection.service.js';
import { CaseHistoryService } from '../case-history/case-history.service.js';
import type { RunDetails } from '../runs/dto/run.responses.js';
import { SchedulesRepository } from './schedules.repository.js';

const TIMEOUT_MS = 20_000;

const AGENT_VERSION = defineJob<{ readonly runId: string }>({
  name: 'schedules.agent-version',
  kind: 'webhooks',
  maxAttempts: 4,
});

/** Asks the platforms of agents which version the runs of schedules call. */
@Injectable()
export class AgentVersionService {
  constructor(
    private readonly repository: SchedulesRepository,
    private readonly history: CaseHistoryService,
    private readonly connections: ConnectionService,
    private readonly client: OutboundClient,
    private readonly queue: Queue,
  ) {
    queue.handle(AGENT_VERSION, ({ runId }, { signal }) => this.ask(runId, signal));
  }

  /** Asks once the caller's transaction, which starts the run, is committed. A version that was given stays. */
  async runStarted({ id: runId, agentVersion }: Pick<RunDetails, 'id' | 'agentVersion'>): Promise<void> {
    if (agentVersion === null) await this.queue.enqueue(AGENT_VERSION, { runId });
  }

  /** @throws Error to be tried again */
  async ask(runId: string, signal: JobContext['signal']): Promise<void> {
    const run = await this.repository.unversioned(runId);
    if (!run) return;
    const { agentId, workspaceId, assistantId, assistantVersion, protocol } = run;
    const endpoint = await this.connections.endpoint(agentId, protocol);
    const { agentVersion } = platformOf(protocol, workspaceId);
    if (!agentVersion || endpoint?.protocol !== protocol) return;
    const agent = { assistantId, ...(assistantVersion !== null && { assistantVersion }) };
    const request = {
      endpoint,
      client: this.client,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    };
    const version = await agentVersion(agent, request).catch((error: unknown) => {
      // What the platform refuses is unknown: the calls of the run say why.
      if (error instanceof CallFailure && !error.failure.retryable) return null;
      throw error;
    });
    if (version !== null) await this.history.setAgentVersion(runId, sanitizeText(version));
  }
}
