import { Check, Column, Entity, PrimaryColumn } from 'typeorm';
import type { Plan } from '../../platform/config/plans.js';
import { UpdatedRow } from '../../platform/database/timestamps.js';

/** A tenant, to which all other resources belong. */
@Entity('workspaces')
@Check('workspaces_plan_check', `plan IN ('FREE', 'PRO', 'ENTERPRISE')`)
export class WorkspaceEntity extends UpdatedRow {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'workspaces_pkey' })
  id: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text' })
  plan: Plan;

  /** Overrides the rate limit of the plan. */
  @Column({ name: 'requests_per_minute', type: 'integer', nullable: true })
  requestsPerMinute: number | null;

  /** A run with a lower score sends `agent.score_dropped`; 0 to 100. */
  @Column({ name: 'score_threshold', type: 'double precision', nullable: true })
  scoreThreshold: number | null;
}
