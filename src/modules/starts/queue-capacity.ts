import { conflict } from '../../platform/errors/domain-error.js';
import { MAX_WAITING_CALLS } from './plan.js';
import type { StartRepository } from './start.repository.js';

/** Limits the waiting calls, because every claim searches them. @throws DomainError CONFLICT */
export async function requireQueueCapacity(repository: StartRepository, agentId: string): Promise<void> {
  if (await repository.isFull(agentId, MAX_WAITING_CALLS)) {
    throw conflict(
      `The agent has ${MAX_WAITING_CALLS} calls or more waiting; wait for its runs to end, or cancel some`,
    );
  }
}
