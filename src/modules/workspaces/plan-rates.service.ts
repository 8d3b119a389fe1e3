import { Inject, Injectable } from '@nestjs/common';
import { type Plan, PLANS } from '../../platform/config/plans.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { PlanRateEntity } from './plan-rate.entity.js';

/** The rates of the plans that the service applies, stored for the administrator's commands. */
@Injectable()
export class PlanRatesService {
  constructor(
    private readonly database: Database,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** Stores the rates in this process's settings. Called by each process that applies them, when it starts. */
  async publish(): Promise<void> {
    const { planLimits } = this.settings;
    const rates = PLANS.map((plan) => ({ plan, requestsPerMinute: planLimits[plan], updatedAt: new Date() }));
    await this.database.manager.upsert(PlanRateEntity, rates, ['plan']);
  }

  /** Requests per minute of each plan as the service applies them; before its first start, as this process's settings say. */
  async read(): Promise<Readonly<Record<Plan, number>>> {
    const stored = await this.database.manager.find(PlanRateEntity);
    const rates = stored.map(({ plan, requestsPerMinute }) => [plan, requestsPerMinute] as const);
    return { ...this.settings.planLimits, ...Object.fromEntries(rates) };
  }
}
