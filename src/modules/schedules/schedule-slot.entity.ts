import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { oneOf } from '../../platform/database/checks.js';

/** `disabled` also while the agent is deleted. */
export const SLOT_OUTCOMES = ['started', 'overlap', 'disabled', 'missed', 'refused'] as const;
export type SlotOutcome = (typeof SLOT_OUTCOMES)[number];

/** What became of a due time of a schedule, or of several in a row. */
@Entity('schedule_slots')
@Index('schedule_slots_due_key', ['scheduleId', 'toAt'], { unique: true })
@Check('schedule_slots_outcome_check', oneOf('outcome', SLOT_OUTCOMES))
export class ScheduleSlotEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'schedule_slots_pkey' })
  id: string;

  @ForeignKey('ScheduleEntity', { name: 'schedule_slots_schedule_id_fkey', onDelete: 'CASCADE' })
  @Column({ name: 'schedule_id', type: 'uuid' })
  scheduleId: string;

  @Column({ type: 'text' })
  outcome: SlotOutcome;

  /** The first due time. */
  @Column({ name: 'from_at', type: 'timestamptz', precision: 3 })
  fromAt: Date;

  /** The last due time. */
  @Index('schedule_slots_to_at_idx')
  @Column({ name: 'to_at', type: 'timestamptz', precision: 3 })
  toAt: Date;

  /** Number of due times; more than one only if they were missed or the schedule was paused. */
  @Column({ type: 'integer' })
  count: number;

  /** It may be deleted. */
  @Column({ name: 'run_id', type: 'uuid', nullable: true })
  runId: string | null;

  /** Why it was refused, one sentence each. */
  @Column({ type: 'text', array: true, default: () => `'{}'` })
  issues: string[];
}
