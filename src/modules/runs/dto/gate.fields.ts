import type { GateSettings } from '../../../../libs/statistics/index.js';
import { IntegerField, NumberField } from '../../../platform/http/dto/fields.js';

/** Maximum number of calls of one run, all of which may be allowed to stay untested. */
const MAX_UNCOUNTED = 10_000;

const MINIMUM_SCORE = {
  description: 'Score that the run must reach; null for no minimum',
  example: 80,
  minimum: 0,
  maximum: 100,
  nullable: true,
} as const;
const MINIMUM_PASS_RATE = {
  description: 'Share of the counted calls that must pass, 0 to 1; null for no minimum',
  example: 0.95,
  minimum: 0,
  maximum: 1,
  nullable: true,
} as const;
const ALLOWED_UNCOUNTED = {
  description: 'Number of calls that may end as `error` or `invalid` after their retries',
  example: 0,
  minimum: 0,
  maximum: MAX_UNCOUNTED,
} as const;

/**
 * The conditions of a run's gate that a request can set. Without `minimumScore` and `minimumPassRate` every counted call
 * must pass.
 */
export class GateRequest implements Partial<GateSettings> {
  @NumberField({
    ...MINIMUM_SCORE,
    description: `${MINIMUM_SCORE.description}. Without it and \`minimumPassRate\`, every counted call must pass`,
    optional: true,
    default: null,
  })
  minimumScore?: number | null;

  @NumberField({ ...MINIMUM_PASS_RATE, optional: true, default: null })
  minimumPassRate?: number | null;

  @IntegerField({ ...ALLOWED_UNCOUNTED, optional: true, default: 0 })
  allowedUncounted?: number;
}

/** The conditions of a run's gate in responses. */
export class GateFields implements GateSettings {
  @NumberField(MINIMUM_SCORE)
  minimumScore: number | null;

  @NumberField(MINIMUM_PASS_RATE)
  minimumPassRate: number | null;

  @IntegerField(ALLOWED_UNCOUNTED)
  allowedUncounted: number;
}
