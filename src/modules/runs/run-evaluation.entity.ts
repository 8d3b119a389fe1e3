import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import type { EvaluationDefinition } from '../../../libs/evaluation-definition/index.js';
import type { Personality, Scenario } from '../../../libs/simulation/index.js';

/** An evaluation with its personality as they were when the run was started: later edits never change a result. */
export interface EvaluationSnapshot extends Required<Scenario> {
  readonly key: string | null;
  readonly name: string;
  readonly critical: boolean;
  readonly tags: readonly string[];
  /** Number that the call uses; may be empty. */
  readonly phoneNumber: string;
  readonly personality: Required<Personality> & { readonly id: string };
  readonly definition: EvaluationDefinition;
}

/** An evaluation of a run's plan. */
@Entity('run_evaluations')
export class RunEvaluationEntity {
  @ForeignKey('RunEntity', { name: 'run_evaluations_run_id_fkey', onDelete: 'CASCADE' })
  @PrimaryColumn({ name: 'run_id', type: 'uuid', primaryKeyConstraintName: 'run_evaluations_pkey' })
  runId: string;

  @PrimaryColumn({ name: 'evaluation_id', type: 'uuid', primaryKeyConstraintName: 'run_evaluations_pkey' })
  evaluationId: string;

  /** Place in the plan, from 0. */
  @Column({ type: 'integer' })
  position: number;

  @Column({ type: 'jsonb' })
  snapshot: EvaluationSnapshot;
}
