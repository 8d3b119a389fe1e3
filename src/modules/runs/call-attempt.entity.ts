import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import type { CallResult } from '../../../libs/simulation/index.js';

/** The result of an earlier attempt. */
export type AttemptResult = CallResult & {
  /** Present when parts were omitted because the result was too large. */
  readonly isShortened?: true;
};

/** The result of an earlier attempt at a call; the last attempt's is in `call_results`. Attempts whose process died have none. */
@Entity('call_attempts')
export class CallAttemptEntity {
  @ForeignKey('CallEntity', { name: 'call_attempts_call_id_fkey', onDelete: 'CASCADE' })
  @PrimaryColumn({ name: 'call_id', type: 'uuid', primaryKeyConstraintName: 'call_attempts_pkey' })
  callId: string;

  /** Position in the call's attempts, from 1. */
  @PrimaryColumn({ type: 'integer', primaryKeyConstraintName: 'call_attempts_pkey' })
  number: number;

  @Column({ type: 'jsonb' })
  result: AttemptResult;
}
