import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { DateOrigin, EvaluationDefinition, NestedCheck } from '../../../libs/evaluation-definition/index.js';
import type { Personality, Scenario } from '../../../libs/simulation/index.js';

/** What a personality's fields say about its voice calls. */
export interface CallerVoice {
  readonly gender: 'FEMALE' | 'MALE';
  readonly accent: string;
  readonly voice_id: string;
  readonly provider: string;
  readonly backgroundNoise: boolean;
  /** Missing in runs of earlier versions, whose callers never interrupt. */
  readonly interrupts?: 'never' | 'sometimes';
}

/** An evaluation and its personality at the start of the run, so that later edits do not affect it. */
export interface EvaluationSnapshot extends Required<Omit<Scenario, 'isCalled' | 'hasOwnLanguage'>> {
  /** Missing in runs of earlier versions. */
  readonly hasOwnLanguage?: boolean;
  /** Fixed when the run starts. Missing in runs of earlier versions, which have no dates. */
  readonly dates?: DateOrigin;
  readonly key: string | null;
  readonly name: string;
  readonly critical: boolean;
  readonly tags: readonly string[];
  /** Phone number that the call uses; may be empty. */
  readonly phoneNumber: string;
  /** `voice` is missing in runs of versions without voice calls. */
  readonly personality: Required<Personality> & { readonly id: string; readonly voice?: CallerVoice };
  readonly definition: EvaluationDefinition;
  /** Present if the evaluation judges only some production calls. */
  readonly appliesTo?: NestedCheck;
  /** Present if it was provisional. */
  readonly provisional?: true;
}

/** An evaluation of a run's plan. */
@Entity('run_evaluations')
export class RunEvaluationEntity {
  /** No foreign key: the evaluations of a deleted run are deleted later (decision 74). */
  @PrimaryColumn({ name: 'run_id', type: 'uuid', primaryKeyConstraintName: 'run_evaluations_pkey' })
  runId: string;

  @PrimaryColumn({ name: 'evaluation_id', type: 'uuid', primaryKeyConstraintName: 'run_evaluations_pkey' })
  evaluationId: string;

  /** Position in the plan, from 0. */
  @Column({ type: 'integer' })
  position: number;

  /** Position of its first call in the plan; the others follow. */
  @Column({ name: 'first_call', type: 'integer' })
  firstCall: number;

  /** Number of its cases: rows of variables, or 1 without variables. Each has `repeat` calls. */
  @Column({ type: 'integer' })
  cases: number;

  @Column({ type: 'jsonb' })
  snapshot: EvaluationSnapshot;

  /** Of a day of production: calls that it judged. */
  @Column({ type: 'integer', default: 0 })
  taken: number;

  /** Calls that it is not about. */
  @Column({ name: 'not_applicable', type: 'integer', default: 0 })
  notApplicable: number;

  /** Calls beyond the most that a case may have. */
  @Column({ name: 'over_limit', type: 'integer', default: 0 })
  overLimit: number;

  /** Calls whose criteria a model was asked about. */
  @Column({ type: 'integer', default: 0 })
  judged: number;

  /** Calls whose criteria were left out beyond the most of a day. */
  @Column({ type: 'integer', default: 0 })
  unjudged: number;
}
