import { Injectable } from '@nestjs/common';
import { Queue } from '../../platform/queue/queue.js';
import { ConnectionService } from '../agents/connection/connection.service.js';
import { CapacityService } from '../capacity/capacity.service.js';
import { CallMetrics } from './call-metrics.js';
import { ToolCallsService } from '../tool-calls/tool-calls.service.js';
import { ExecutionRepository } from './execution.repository.js';
import { RunFinisher } from '../run-ends/run-finisher.service.js';

/** Continues what processes that died have left, in every process that executes calls. */
@Injectable()
export class CallSweep {
  constructor(
    private readonly repository: ExecutionRepository,
    private readonly connections: ConnectionService,
    private readonly capacity: CapacityService,
    private readonly finisher: RunFinisher,
    private readonly metrics: CallMetrics,
    private readonly toolCalls: ToolCallsService,
    queue: Queue,
  ) {
    queue.onSweep(() => this.sweep());
  }

  private async sweep(): Promise<void> {
    await this.repository.endHopeless();
    await this.toolCalls.forget();
    const notEnded = await this.capacity.sweep((agentId, protocol) => this.connections.endpoint(agentId, protocol));
    this.metrics.setUnended(notEnded);
    this.metrics.setWaiting(await this.repository.sweep());
    for (const id of await this.repository.findOver()) await this.finisher.finish(id);
  }
}
