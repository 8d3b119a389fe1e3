import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { CallResult, ImportedToolCall, TranscriptEntry } from '../../../libs/simulation/index.js';
import { oneOf } from '../../platform/database/checks.js';
import { CHANNEL_ORDERS, type ChannelOrder } from '../recordings/recording-uploads.service.js';

export type { ChannelOrder };

/** Whose call it was. */
export const CALL_ORIGINS = ['import', 'production'] as const;
export type CallOrigin = (typeof CALL_ORIGINS)[number];

/** What a call was imported with that was recorded elsewhere. */
@Entity('call_imports')
@Index('call_imports_external_id_key', ['agentId', 'externalId'], {
  unique: true,
  where: 'external_id IS NOT NULL AND content_hash IS NOT NULL',
})
@Index('call_imports_external_id_idx', ['agentId', 'externalId'])
@Index('call_imports_run_idx', ['runId'])
@Index('call_imports_pending_idx', ['workspaceId'], { where: 'bytes > 0 OR transcript IS NOT NULL' })
@Check('call_imports_channels_check', oneOf('channels', CHANNEL_ORDERS))
@Check('call_imports_origin_check', oneOf('origin', CALL_ORIGINS))
export class CallImportEntity {
  @ForeignKey('CallEntity', { name: 'call_imports_call_id_fkey', onDelete: 'CASCADE' })
  @PrimaryColumn({ name: 'call_id', type: 'uuid', primaryKeyConstraintName: 'call_imports_pkey' })
  callId: string;

  /** No foreign key: the calls of a deleted run are deleted later (decision 74). */
  @Column({ name: 'run_id', type: 'uuid' })
  runId: string;

  @ForeignKey('WorkspaceEntity', { name: 'call_imports_workspace_id_fkey' })
  @Column({ name: 'workspace_id', type: 'uuid' })
  workspaceId: string;

  @Column({ name: 'agent_id', type: 'uuid' })
  agentId: string;

  /** The call's name where it was recorded, unique per agent. */
  @Column({ name: 'external_id', type: 'text', nullable: true })
  externalId: string | null;

  /** SHA-256 of everything that was sent; null for a call of a day of production. */
  @Column({ name: 'content_hash', type: 'text', nullable: true })
  contentHash: string | null;

  /** Null without a recording. */
  @Column({ type: 'text', nullable: true })
  channels: ChannelOrder | null;

  /** Null without one, and when the call has ended. */
  @Column({ type: 'jsonb', nullable: true })
  transcript: TranscriptEntry[] | null;

  /** Null if they are not known, and when the call has ended. */
  @Column({ name: 'tool_calls', type: 'jsonb', nullable: true })
  toolCalls: ImportedToolCall[] | null;

  /**
   * What the words of a production call decided as they were said; with a recording, only the checks that they decide otherwise
   * when they are redacted. Null for others, and when the call has ended.
   */
  @Column({ type: 'jsonb', nullable: true })
  decided: CallResult | null;

  /** Why it ended, in the words of its platform. */
  @Column({ name: 'ended_reason', type: 'text', nullable: true })
  endedReason: string | null;

  /** What its platform measured; it decides nothing. */
  @Column({ type: 'jsonb', nullable: true })
  reported: unknown;

  @Column({ type: 'text', default: 'import' })
  origin: CallOrigin;

  /** What the recording will take in DATA_DIR; 0 when the call has ended. */
  @Column({ type: 'bigint' })
  bytes: string;
}
