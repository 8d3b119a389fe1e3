import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { PERSONAL_DATA_KINDS, type PersonalDataKind } from '../../../libs/evaluation-definition/index.js';
import { oneOf } from '../../platform/database/checks.js';
import { UpdatedRow } from '../../platform/database/timestamps.js';

export const MONITORING_STATES = [
  'off',
  'starting',
  'healthy',
  'invalid_credential',
  'rate_limited',
  'unavailable',
] as const;
export type MonitoringState = (typeof MONITORING_STATES)[number];

/** What becomes of the recordings of production calls. */
export const SOUND_SETTINGS = ['measure_only', 'keep', 'none'] as const;
export type SoundSetting = (typeof SOUND_SETTINGS)[number];

/** How far production calls of an agent were fetched, and which of them are taken. */
@Entity('agent_monitoring')
@Index('agent_monitoring_due_idx', ['dueAt'], { where: 'fetched_until IS NOT NULL' })
@Check('agent_monitoring_recordings_check', oneOf('recordings', SOUND_SETTINGS))
@Check('agent_monitoring_state_check', oneOf('state', MONITORING_STATES))
export class MonitoringEntity extends UpdatedRow {
  @ForeignKey('AgentEntity', { name: 'agent_monitoring_agent_id_fkey', onDelete: 'CASCADE' })
  @PrimaryColumn({ name: 'agent_id', type: 'uuid', primaryKeyConstraintName: 'agent_monitoring_pkey' })
  agentId: string;

  @Column({ name: 'workspace_id', type: 'uuid' })
  workspaceId: string;

  /** Share of the calls that is taken. */
  @Column({ name: 'sample_percent', type: 'integer', default: 100 })
  samplePercent: number;

  @Column({ type: 'text', default: 'measure_only' })
  recordings: SoundSetting;

  /** Kinds of personal data that are replaced by placeholders. */
  @Column({ type: 'text', array: true, default: () => `'{${PERSONAL_DATA_KINDS.join()}}'` })
  redact: PersonalDataKind[];

  /** Whether the language model judges criteria. */
  @Column({ type: 'boolean', default: false })
  judge: boolean;

  /** Calls of a day (UTC) whose criteria it judges at most. */
  @Column({ name: 'max_judged_per_day', type: 'integer', default: 500 })
  maxJudgedPerDay: number;

  @Column({ type: 'text' })
  state: MonitoringState;

  /** In the platform's words; null while all is well. */
  @Column({ type: 'text', nullable: true })
  message: string | null;

  /** Until when the calls are known that have ended; null while it is off. */
  @Column({ name: 'fetched_until', type: 'timestamptz', precision: 3, nullable: true })
  fetchedUntil: Date | null;

  /** A keyed hash of platform, host and key; null before the first time. */
  @Column({ type: 'text', nullable: true })
  credential: string | null;

  /** Names the platform, its host and the agent there. */
  @Column({ type: 'text', nullable: true })
  account: string | null;

  @Column({ name: 'last_fetched_at', type: 'timestamptz', precision: 3, nullable: true })
  lastFetchedAt: Date | null;

  @Column({ name: 'due_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  dueAt: Date;

  /** Until when a process fetches; the credential has one at a time. */
  @Column({ name: 'lease_until', type: 'timestamptz', precision: 3, nullable: true })
  leaseUntil: Date | null;

  /** Times in a row that the platform could not be asked. */
  @Column({ type: 'integer', default: 0 })
  failures: number;
}
