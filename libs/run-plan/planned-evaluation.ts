import type {
  AuthoredPersonality,
  DateOrigin,
  EvaluationDefinition,
  Interrupts,
  VariablesRow,
} from '../evaluation-definition/index.js';

/** An evaluation and its personality as a run would take them; stored or in a file. */
export interface PlannedEvaluation {
  readonly snapshot: {
    readonly name: string;
    /** BCP 47 tag of the language of the call. */
    readonly language: string | null;
    /** Missing in runs of earlier versions, which have no dates. */
    readonly dates?: DateOrigin;
    readonly scenarioText?: string;
    readonly generalInstructions?: string;
    readonly personality: {
      readonly id: string;
      readonly name: string;
      /** Missing in runs of versions without voice calls. */
      readonly voice?: Pick<AuthoredPersonality, 'accent' | 'backgroundNoise' | 'gender' | 'voice_id'> & {
        readonly provider: string;
        /** Missing in runs of earlier versions. */
        readonly interrupts?: Interrupts;
      };
    };
    readonly definition: EvaluationDefinition;
  };
  /** At least one: its rows of variables, or one without. */
  readonly cases: readonly { readonly variables: VariablesRow | null }[];
}
