import { Column, Entity, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import type { Plan } from '../../platform/config/plans.js';

/** The rate of a plan as the service applies it, for the administrator's commands, which may have other settings. */
@Entity('plan_rates')
export class PlanRateEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'plan_rates_pkey' })
  plan: Plan;

  @Column({ name: 'requests_per_minute', type: 'integer' })
  requestsPerMinute: number;

  @UpdateDateColumn({ name: 'updated_at', type: 'timestamptz', precision: 3 })
  updatedAt: Date;
}
