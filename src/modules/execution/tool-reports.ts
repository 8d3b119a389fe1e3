import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { TakeReports } from '../../../libs/simulation/index.js';
import { withRetry } from '../../platform/queue/with-retry.js';
import { ToolCallsService } from '../tool-calls/tool-calls.service.js';
import { CallConnections } from './call-connections.js';
import type { ClaimedCall } from './execution.repository.js';

/** How long after the call reports of what the agent did last are waited for: one that fails at first is sent again in time. */
const LATE_MS = 3_000;

/** Tool calls that the backend of an agent reports while it is called. */
@Injectable()
export class ToolReports {
  constructor(
    private readonly toolCalls: ToolCallsService,
    private readonly connections: CallConnections,
  ) {}

  /** Accepts reports about an attempt until they are taken. */
  async start(call: ClaimedCall, signal: AbortSignal): Promise<TakeReports> {
    await this.toolCalls.start(call);
    return async () => {
      await sleep(LATE_MS, undefined, { signal });
      return withRetry(this.connections, () => this.toolCalls.take(call.claimId), signal);
    };
  }
}
