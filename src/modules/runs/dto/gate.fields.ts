import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateIf } from 'class-validator';
import type { GateSettings } from '../../../../libs/statistics/index.js';
import { EXAMPLE_ID } from '../../../platform/http/dto/example-ids.js';
import { checked, IdField, IntegerField, MAX_LENGTH, NumberField } from '../../../platform/http/dto/fields.js';

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

const NOT_WORSE_THAN =
  'Run that no case may be worse than, by more than chance: `previous`, or the id of a run of the agent; null for none';

const RUN_REFERENCE = '(previous|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})';

/** `previous` or the id of a run. @param maximum number of them, separated by commas; by default one */
export function RunReferenceField({
  description,
  maximum = 1,
  example = 'previous',
  ...options
}: {
  readonly description: string;
  readonly maximum?: number;
  /** Null: none, since it would not work for the first run. */
  readonly example?: string | null;
  readonly nullable?: boolean;
  readonly optional?: boolean;
  readonly default?: string | null;
}): PropertyDecorator {
  const isList = maximum > 1;
  const pattern = new RegExp(`^${RUN_REFERENCE}${isList ? `(,${RUN_REFERENCE}){0,${maximum - 1}}` : ''}$`);
  const allowed = `"previous" or the id of a run${isList ? `, or up to ${maximum} of them separated by commas` : ''}`;
  const violation = (value: unknown): string | undefined =>
    typeof value === 'string' && pattern.test(value) ? undefined : `must be ${allowed}`;
  return applyDecorators(
    ApiProperty({
      type: 'string',
      description,
      ...(example !== null && { example }),
      maxLength: Math.max(MAX_LENGTH.identifier, maximum * (EXAMPLE_ID.run.length + 1)),
      pattern: pattern.source,
      required: options.optional !== true,
      ...(options.nullable && { nullable: true }),
      ...('default' in options && { default: options.default }),
    }),
    checked('runReference', violation),
    ...(options.optional ? [ValidateIf((_, value) => value !== undefined)] : []),
    ...(options.nullable ? [ValidateIf((_, value) => value !== null)] : []),
  );
}

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

  @RunReferenceField({ description: NOT_WORSE_THAN, nullable: true, optional: true, default: null })
  notWorseThan?: string | null;
}

/** The conditions of a run's gate in responses. */
export class GateFields implements GateSettings {
  @NumberField(MINIMUM_SCORE)
  minimumScore: number | null;

  @NumberField(MINIMUM_PASS_RATE)
  minimumPassRate: number | null;

  @IntegerField(ALLOWED_UNCOUNTED)
  allowedUncounted: number;

  @RunReferenceField({ description: NOT_WORSE_THAN, nullable: true })
  notWorseThan: string | null;

  @IdField({
    kind: 'run',
    description: 'The run of `notWorseThan`, which may be deleted; null if there is none',
    nullable: true,
  })
  baselineRunId: string | null;
}
