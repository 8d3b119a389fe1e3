import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { UpdatedRow } from '../../platform/database/timestamps.js';

/**
 * Who was sent sound of a production call: the requests of an API key in one minute. It outlives the call and its agent, so it has
 * no foreign keys of these, and nothing that was said.
 */
@Entity('recording_readings')
@Index('recording_readings_minute_key', ['callId', 'apiKeyId', 'minute'], { unique: true })
@Index('recording_readings_list_idx', ['workspaceId', 'createdAt', 'id'])
@Index('recording_readings_created_at_idx', ['createdAt'])
export class RecordingReadingEntity extends UpdatedRow {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'recording_readings_pkey' })
  id: string;

  @ForeignKey('WorkspaceEntity', { name: 'recording_readings_workspace_id_fkey' })
  @Column({ name: 'workspace_id', type: 'uuid' })
  workspaceId: string;

  @Column({ name: 'agent_id', type: 'uuid' })
  agentId: string;

  /** The call that was recorded, also if the sound was read of one that judges it again. */
  @Column({ name: 'call_id', type: 'uuid' })
  callId: string;

  /** Its name where it was recorded; null without one, and once the agent was erased. */
  @Column({ name: 'external_id', type: 'text', nullable: true })
  externalId: string | null;

  @ForeignKey('ApiKeyEntity', { name: 'recording_readings_api_key_id_fkey' })
  @Column({ name: 'api_key_id', type: 'uuid' })
  apiKeyId: string;

  @ForeignKey('UserEntity', { name: 'recording_readings_user_id_fkey' })
  @Column({ name: 'user_id', type: 'uuid' })
  userId: string;

  /** Of the first request. */
  @Column({ name: 'request_id', type: 'text' })
  requestId: string;

  @Column({ type: 'integer', default: 1 })
  requests: number;

  /** Length of the file. */
  @Column({ name: 'file_bytes', type: 'bigint' })
  fileBytes: string;

  /** Which bytes of the file were sent. */
  @Column({ type: 'int8multirange' })
  parts: string;

  @Column({ type: 'timestamptz', precision: 0 })
  minute: Date;
}
