import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import type { CallResult } from '../../../libs/simulation/index.js';

/** The full result of a call, in a table of its own because it is large and read far less often than the call. */
@Entity('call_results')
export class CallResultEntity {
  @ForeignKey('CallEntity', { name: 'call_results_call_id_fkey', onDelete: 'CASCADE' })
  @PrimaryColumn({ name: 'call_id', type: 'uuid', primaryKeyConstraintName: 'call_results_pkey' })
  callId: string;

  @Column({ type: 'jsonb' })
  result: CallResult;
}
