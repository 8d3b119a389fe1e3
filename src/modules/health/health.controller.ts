import { Controller, Get } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { unavailable } from '../../platform/errors/domain-error.js';
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
    summary: 'Whether the process is alive',
    description: 'Answers as long as the process can answer anything; looks at nothing else.',
    access: 'PUBLIC',
    tag: 'Health',
    response: { shape: 'message', message: 'Alive' },
  })
  @NeverRefused()
  @Get('healthz')
  getHealth(): void {
    // Answering at all is the answer.
  }

  @Operation({
    summary: 'Whether the process can serve requests now',
    description: 'Answers 503 while the database is out of reach and once the process has begun to shut down.',
    access: 'PUBLIC',
    tag: 'Health',
    response: { shape: 'message', message: 'Ready' },
    errors: ['SERVICE_UNAVAILABLE'],
  })
  @NeverRefused()
  @Get('readyz')
  async getReadiness(): Promise<void> {
    if (this.readiness.isShuttingDown) throw unavailable();
    // Whatever the database says instead of an answer, this process cannot serve requests now.
    await this.database.ping().catch((cause: unknown) => {
      throw unavailable(cause);
    });
  }
}
