import { Check, Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import type { CaseFigures, RunFigures } from './run-figures.js';

/** `gate`: the run of `notWorseThan`; `previous`: the agent's previous run, or the one that a run was derived from. */
export const BASELINE_PURPOSES = ['gate', 'previous'] as const;
export type BaselinePurpose = (typeof BASELINE_PURPOSES)[number];

/** The figures of the earlier run at the start of the later one. */
export interface BaselineFigures extends RunFigures {
  readonly cases: readonly CaseFigures[];
}

/** An earlier run that a run is compared with. It has no reference to that run: its deletion must not change a result. */
@Entity('run_baselines')
@Check('run_baselines_purpose_check', `purpose IN ('gate', 'previous')`)
export class RunBaselineEntity {
  @ForeignKey('RunEntity', { name: 'run_baselines_run_id_fkey', onDelete: 'CASCADE' })
  @PrimaryColumn({ name: 'run_id', type: 'uuid', primaryKeyConstraintName: 'run_baselines_pkey' })
  runId: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'run_baselines_pkey' })
  purpose: BaselinePurpose;

  @Column({ type: 'jsonb' })
  figures: BaselineFigures;
}
