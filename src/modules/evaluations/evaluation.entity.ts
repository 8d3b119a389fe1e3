import { Column, CreateDateColumn, Entity, ForeignKey, Index, PrimaryColumn, UpdateDateColumn } from 'typeorm';

/** A test scenario of an agent. */
@Entity('evaluations')
@Index('evaluations_list_idx', ['agentId', 'createdAt', 'id'], { where: 'deleted_at IS NULL' })
export class EvaluationEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'evaluations_pkey' })
  id: string;

  @ForeignKey('WorkspaceEntity', { name: 'evaluations_workspace_id_fkey' })
  @Column({ name: 'workspace_id', type: 'uuid' })
  workspaceId: string;

  @ForeignKey('AgentEntity', { name: 'evaluations_agent_id_fkey' })
  @Column({ name: 'agent_id', type: 'uuid' })
  agentId: string;

  @ForeignKey('PersonalityEntity', { name: 'evaluations_personality_id_fkey' })
  @Column({ name: 'personality_id', type: 'uuid' })
  personalityId: string;

  @ForeignKey('UserEntity', { name: 'evaluations_created_by_user_id_fkey' })
  @Column({ name: 'created_by_user_id', type: 'uuid' })
  createdByUserId: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ name: 'scenario_text', type: 'text' })
  scenarioText: string;

  @Column({ name: 'general_instructions', type: 'text' })
  generalInstructions: string;

  @Column({ name: 'vendor_call_phone_number', type: 'text' })
  vendorCallPhoneNumber: string;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt: Date;

  @UpdateDateColumn({ name: 'updated_at', type: 'timestamptz', precision: 3 })
  updatedAt: Date;

  @Column({ name: 'deleted_at', type: 'timestamptz', precision: 3, nullable: true })
  deletedAt: Date | null;
}
