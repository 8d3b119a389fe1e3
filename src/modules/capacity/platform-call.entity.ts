import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { Medium } from '../../../libs/simulation/index.js';
import { oneOf } from '../../platform/database/checks.js';
import { UpdatedRow } from '../../platform/database/timestamps.js';

/**
 * `reserved`: the attempt has capacity and has not dialled. `dialling`: the platform may carry the call. `placed`: it does.
 * `ended`: it does not. `not_ended`: it may, and could not be asked to end it.
 */
export const PLATFORM_CALL_STATES = ['reserved', 'dialling', 'placed', 'ended', 'not_ended'] as const;
const PAID_BY = ['platform', 'tester'] as const;

/** An attempt at a call, or the test of a connection, that uses capacity of a platform (decision 159). */
@Entity('platform_calls')
@Index('platform_calls_call_idx', ['callId'])
@Index('platform_calls_run_idx', ['runId'])
@Index('platform_calls_open_idx', ['credential'], { where: `state <> 'ended'` })
@Index('platform_calls_number_key', ['number'], { unique: true, where: `state IN ('reserved', 'dialling', 'placed')` })
@Index('platform_calls_number_until_idx', ['number', 'numberUntil'], { where: 'number IS NOT NULL' })
@Check('platform_calls_state_check', oneOf('state', PLATFORM_CALL_STATES))
@Check('platform_calls_paid_by_check', oneOf('paid_by', PAID_BY))
export class PlatformCallEntity extends UpdatedRow {
  /** The attempt's id, which the platform receives. */
  @PrimaryColumn({ name: 'claim_id', type: 'uuid', primaryKeyConstraintName: 'platform_calls_pkey' })
  claimId: string;

  /** Null for the test of a connection, and after the call was deleted with its run. */
  @ForeignKey('CallEntity', { name: 'platform_calls_call_id_fkey', onDelete: 'SET NULL' })
  @Column({ name: 'call_id', type: 'uuid', nullable: true })
  callId: string | null;

  /** Null for the test of a connection. */
  @Column({ name: 'run_id', type: 'uuid', nullable: true })
  runId: string | null;

  @Column({ name: 'workspace_id', type: 'uuid' })
  workspaceId: string;

  @Column({ name: 'agent_id', type: 'uuid' })
  agentId: string;

  @Column({ type: 'text' })
  medium: Medium;

  @Column({ type: 'text' })
  protocol: string;

  /** Whether the platform bills it; else only its capacity is of interest. */
  @Column({ type: 'boolean' })
  bills: boolean;

  /** From 1. */
  @Column({ type: 'integer' })
  attempt: number;

  /** Whose capacity it uses: a keyed hash of platform, host and key. */
  @Column({ type: 'text' })
  credential: string;

  @Column({ type: 'text' })
  state: (typeof PLATFORM_CALL_STATES)[number];

  /** JSON by which the platform ends the call, encrypted; null once it has ended. */
  @Column({ type: 'text', nullable: true })
  handle: string | null;

  /** Id of the call in the records of the platform. */
  @Column({ name: 'platform_id', type: 'text', nullable: true })
  platformId: string | null;

  @Column({ name: 'paid_seconds', type: 'double precision', nullable: true })
  paidSeconds: number | null;

  /** Whose figure `paidSeconds` is. */
  @Column({ name: 'paid_by', type: 'text', nullable: true })
  paidBy: (typeof PAID_BY)[number] | null;

  @Column({ name: 'placed_at', type: 'timestamptz', precision: 3, nullable: true })
  placedAt: Date | null;

  @Column({ name: 'ended_at', type: 'timestamptz', precision: 3, nullable: true })
  endedAt: Date | null;

  /** Renewed by the executing process; after it has expired, a sweep ends the call. */
  @Column({ name: 'lease_until', type: 'timestamptz', precision: 3 })
  leaseUntil: Date;

  /** Of the tester, at which the agent calls it; null if the agent is called. */
  @Column({ type: 'text', nullable: true })
  number: string | null;

  /** Until when nothing else is expected at the number, once the call has ended. */
  @Column({ name: 'number_until', type: 'timestamptz', precision: 3, nullable: true })
  numberUntil: Date | null;

  /** How often the platform could not be asked to end it. */
  @Column({ name: 'end_failures', type: 'integer' })
  endFailures: number;
}

/** Context that the ciphertext of a handle is bound to. */
export const handlePurpose = (claimId: string) => `platform_call:${claimId}`;
