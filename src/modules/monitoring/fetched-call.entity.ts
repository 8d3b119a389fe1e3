import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { oneOf } from '../../platform/database/checks.js';

/**
 * `judged`, `not_applicable`, `over_limit`: it was taken. `own`: it is of this service. `sampled_out`: not in the sample.
 * `malformed`: its record cannot be read. `no_words`: its record has none. `awaited`: it, or its recording, is asked for again.
 */
export const FETCHED_OUTCOMES = [
  'judged',
  'not_applicable',
  'over_limit',
  'own',
  'sampled_out',
  'malformed',
  'no_words',
  'awaited',
] as const;
export type FetchedOutcome = (typeof FETCHED_OUTCOMES)[number];

/** How responses name what is counted. */
export const COUNTED_AS = {
  judged: 'judged',
  not_applicable: 'notApplicable',
  over_limit: 'overLimit',
  own: 'own',
  sampled_out: 'sampledOut',
  malformed: 'malformed',
  no_words: 'noWords',
  awaited: 'awaited',
} as const satisfies Record<FetchedOutcome, string>;

/** A call in the records of a platform that is known, and what became of it. */
@Entity('fetched_calls')
@Index('fetched_calls_counts_idx', ['agentId', 'fetchedAt'])
@Index('fetched_calls_due_idx', ['agentId', 'dueAt'], { where: 'due_at IS NOT NULL' })
@Index('fetched_calls_fetched_at_idx', ['fetchedAt'])
@Check('fetched_calls_outcome_check', oneOf('outcome', FETCHED_OUTCOMES))
export class FetchedCallEntity {
  @ForeignKey('AgentEntity', { name: 'fetched_calls_agent_id_fkey', onDelete: 'CASCADE' })
  @PrimaryColumn({ name: 'agent_id', type: 'uuid', primaryKeyConstraintName: 'fetched_calls_pkey' })
  agentId: string;

  /** In the records of the platform. */
  @PrimaryColumn({ name: 'platform_id', type: 'text', primaryKeyConstraintName: 'fetched_calls_pkey' })
  platformId: string;

  @Column({ type: 'text' })
  outcome: FetchedOutcome;

  /** Why its record cannot be read. */
  @Column({ type: 'text', nullable: true })
  issue: string | null;

  @Column({ name: 'ended_at', type: 'timestamptz', precision: 3 })
  endedAt: Date;

  @Column({ name: 'fetched_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  fetchedAt: Date;

  /** Of its record. */
  @Column({ type: 'integer', default: 1 })
  readings: number;

  /** Whether its words are known, and its call goes on until its recording is there. */
  @Column({ name: 'awaits_sound', type: 'boolean', default: false })
  awaitsSound: boolean;

  /** When its record is read again; null if it is not. */
  @Column({ name: 'due_at', type: 'timestamptz', precision: 3, nullable: true })
  dueAt: Date | null;
}
