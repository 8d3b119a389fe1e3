import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import type { CallResult } from '../../../libs/simulation/index.js';

/** All that a call came to. Apart from the call, which is read and changed far more often and is small. */
@Entity('call_results')
export class CallResultEntity {
  @ForeignKey('CallEntity', { name: 'call_results_call_id_fkey', onDelete: 'CASCADE' })
  @PrimaryColumn({ name: 'call_id', type: 'uuid', primaryKeyConstraintName: 'call_results_pkey' })
  callId: string;

  @Column({ type: 'jsonb' })
  result: CallResult;
}
