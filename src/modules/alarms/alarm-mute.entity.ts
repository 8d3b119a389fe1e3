import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { CreatedRow } from '../../platform/database/timestamps.js';

/** Until when the alarms of an agent are not sent. */
@Entity('alarm_mutes')
export class AlarmMuteEntity extends CreatedRow {
  @ForeignKey('AgentEntity', { name: 'alarm_mutes_agent_id_fkey', onDelete: 'CASCADE' })
  @PrimaryColumn({ name: 'agent_id', type: 'uuid', primaryKeyConstraintName: 'alarm_mutes_pkey' })
  agentId: string;

  @Column({ type: 'timestamptz', precision: 3 })
  until: Date;

  @Column({ type: 'text' })
  reason: string;
}
