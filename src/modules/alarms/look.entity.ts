import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { FindableFall, Learning } from '../../../libs/statistics/index.js';
import { CreatedRow } from '../../platform/database/timestamps.js';

/** The ended runs of a schedule in one hour, or a day of production calls, which its earlier ones are compared with. */
@Entity('looks')
@Index('looks_schedule_idx', ['scheduleId', 'endedAt'])
@Index('looks_agent_idx', ['agentId'])
export class LookEntity extends CreatedRow {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'looks_pkey' })
  id: string;

  @ForeignKey('AgentEntity', { name: 'looks_agent_id_fkey', onDelete: 'CASCADE' })
  @Column({ name: 'agent_id', type: 'uuid' })
  agentId: string;

  /** For days of production calls the agent. No foreign key: looks outlive their schedule. */
  @Column({ name: 'schedule_id', type: 'uuid' })
  scheduleId: string;

  /** The newest last. */
  @Column({ name: 'run_ids', type: 'uuid', array: true })
  runIds: string[];

  /** When the newest of its runs ended. */
  @Column({ name: 'ended_at', type: 'timestamptz', precision: 3 })
  endedAt: Date;

  @Column({ name: 'agent_version', type: 'text', nullable: true })
  agentVersion: string | null;

  /** More than a fifth of its calls could not be judged. */
  @Column({ name: 'is_unavailable', type: 'boolean' })
  isUnavailable: boolean;

  /** What the schedule lacked at this look; null if alarms were possible. */
  @Column({ type: 'jsonb', nullable: true })
  learning: Learning | null;

  /** The falls that alarms find, at this look. */
  @Column({ type: 'jsonb' })
  findable: FindableFall[];
}
