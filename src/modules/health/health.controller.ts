import { Controller, Get } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { DomainError, unavailable } from '../../platform/errors/domain-error.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { NeverRefused } from '../../platform/throttling/plan-throttler.guard.js';
import { Readiness } from '../../platform/observability/readiness.js';

/** For load balancers and orchestrators. */
@Controller()
export class HealthController {
  constructor(
    private readonly database: Database,
    private readonly readiness: Readiness,
  ) {}

  @Operation({
    summary: 'Check that the process is alive',
    description: 'Returns 200 as long as the process can respond at all; checks nothing else.',
    access: 'PUBLIC',
    tag: 'Health',
    response: { shape: 'message', message: 'Alive' },
  })
  @NeverRefused()
  @Get('healthz')
  getHealth(): void {
    // The response itself shows that the process is alive.
  }

  @Operation({
    summary: 'Check that the process can serve requests',
    description:
      'Returns 503 until the start is complete, while the database is unreachable or read-only, and once shutdown has begun. ' +
      'If an error in the service ends the process, `issues` says so.',
    access: 'PUBLIC',
    tag: 'Health',
    response: { shape: 'message', message: 'Ready' },
    errors: ['SERVICE_UNAVAILABLE'],
  })
  @NeverRefused()
  @Get('readyz')
  async getReadiness(): Promise<void> {
    const { failure } = this.readiness;
    if (failure !== undefined) throw new DomainError('SERVICE_UNAVAILABLE', undefined, [failure]);
    if (this.readiness.isStarting || this.readiness.isShuttingDown) throw unavailable();
    // Any error of the database means that this process cannot serve requests now.
    await this.database.requireWritable().catch((cause: unknown) => {
      throw unavailable(cause);
    });
  }
}
