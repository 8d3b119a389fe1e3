import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { CreatedRow } from '../../platform/database/timestamps.js';

/** Reference to the recording of an attempt at a call: the files of `RecordingFiles` with its id are complete. */
@Entity('recordings')
@Index('recordings_call_idx', ['callId'])
@Index('recordings_workspace_idx', ['workspaceId'])
@Index('recordings_created_at_idx', ['createdAt'])
export class RecordingEntity extends CreatedRow {
  /** The attempt's claim id (`ClaimedCall.claimId`). */
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'recordings_pkey' })
  id: string;

  @ForeignKey('CallEntity', { name: 'recordings_call_id_fkey', onDelete: 'CASCADE' })
  @Column({ name: 'call_id', type: 'uuid' })
  callId: string;

  /** No foreign key: the calls of a deleted run are deleted later (decision 74). */
  @Column({ name: 'run_id', type: 'uuid' })
  runId: string;

  @ForeignKey('WorkspaceEntity', { name: 'recordings_workspace_id_fkey' })
  @Column({ name: 'workspace_id', type: 'uuid' })
  workspaceId: string;

  @Column({ type: 'double precision' })
  seconds: number;

  /** Samples per second of each channel. */
  @Column({ name: 'sample_rate', type: 'integer' })
  sampleRate: number;

  /** Length of the audio, without the header. */
  @Column({ type: 'bigint' })
  bytes: string;

  /** Length of the file for drawing; 0 if it was written before sizes were stored. */
  @Column({ name: 'peaks_bytes', type: 'bigint', default: 0 })
  peaksBytes: string;

  /** Length of the wire log; 0 if it was written before sizes were stored. */
  @Column({ name: 'wire_bytes', type: 'bigint', default: 0 })
  wireBytes: string;

  /** Length of the file with which the call can be judged again; 0 without one. */
  @Column({ name: 'facts_bytes', type: 'bigint', default: 0 })
  factsBytes: string;
}
