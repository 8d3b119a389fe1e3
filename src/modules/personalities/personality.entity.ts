import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { SoftDeletedRow } from '../../platform/database/timestamps.js';
import {
  type Gender,
  INTERRUPTS,
  type Interrupts,
  PERSONALITY_PROVIDERS,
  type PersonalityProvider,
} from '../../../libs/evaluation-definition/index.js';

/** A simulated caller: how it sounds and how it behaves. */
@Entity('personalities')
@Index('personalities_list_idx', ['workspaceId', 'createdAt', 'id'], { where: 'deleted_at IS NULL' })
@Check('personalities_gender_check', `gender IN ('MALE', 'FEMALE')`)
@Check('personalities_provider_check', `provider IN (${PERSONALITY_PROVIDERS.map((p) => `'${p}'`).join(', ')})`)
@Check('personalities_interrupts_check', `interrupts IN (${INTERRUPTS.map((one) => `'${one}'`).join(', ')})`)
@Check('personalities_temperature_check', 'temperature BETWEEN 0 AND 2')
export class PersonalityEntity extends SoftDeletedRow {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'personalities_pkey' })
  id: string;

  @ForeignKey('WorkspaceEntity', { name: 'personalities_workspace_id_fkey' })
  @Column({ name: 'workspace_id', type: 'uuid' })
  workspaceId: string;

  @ForeignKey('UserEntity', { name: 'personalities_created_by_user_id_fkey' })
  @Column({ name: 'created_by_user_id', type: 'uuid' })
  createdByUserId: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text' })
  description: string;

  @Column({ type: 'text' })
  prompt: string;

  @Column({ type: 'double precision' })
  temperature: number;

  @Column({ type: 'text' })
  accent: string;

  @Column({ name: 'background_noise', type: 'boolean' })
  backgroundNoise: boolean;

  @Column({ type: 'text' })
  gender: Gender;

  @Column({ type: 'text' })
  provider: PersonalityProvider;

  @Column({ name: 'voice_id', type: 'text' })
  voiceId: string;

  /** Of voice calls without a script. */
  @Column({ type: 'text', default: 'never' })
  interrupts: Interrupts;
}
