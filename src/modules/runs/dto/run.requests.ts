import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateIf } from 'class-validator';
import { LIMITS } from '../../../../libs/evaluation-definition/index.js';
import {
  BooleanField,
  checked,
  codePoints,
  EnumField,
  EXAMPLE_ID,
  IdField,
  IntegerField,
  MAX_LENGTH,
  NumberField,
  QueryIntegerField,
  StringField,
  textFault,
} from '../../../platform/http/fields.js';
import { isUuid } from '../../../platform/database/ids.js';
import { PageQuery } from '../../../platform/http/pagination.js';
import { OUTCOMES } from '../call.entity.js';
import type { Outcome } from '../../../../libs/simulation/index.js';

const MAX_SELECTED = 5_000;

interface ListOptions {
  readonly description: string;
  readonly example: readonly string[];
  readonly maxItems: number;
  readonly items: Readonly<Record<string, unknown>>;
  readonly fault: (item: string) => string | undefined;
}

/** One or more texts, each once; may be left out. */
function SelectionField({ description, example, maxItems, items, fault }: ListOptions): PropertyDecorator {
  const listFault = (value: unknown): string | undefined => {
    if (!Array.isArray(value)) return 'must be an array';
    if (value.length === 0) return 'must not be empty; leave it out for all evaluations';
    if (value.length > maxItems) return `must have at most ${maxItems} entries`;
    for (const [index, item] of (value as unknown[]).entries()) {
      const found = typeof item === 'string' ? fault(item) : 'must be a string';
      if (found !== undefined) return `has an entry that cannot be used: the one at position ${index} ${found}`;
    }
    return new Set(value).size < value.length ? 'must not name an entry twice' : undefined;
  };
  return applyDecorators(
    ApiProperty({
      description,
      type: 'array',
      items: { type: 'string', ...items },
      minItems: 1,
      maxItems,
      uniqueItems: true,
      required: false,
      example: [...example],
    }),
    checked('selection', listFault),
    ValidateIf((_, value) => value !== undefined),
  );
}

/** What to carry out. */
export class StartRunRequest {
  @StringField({
    description: 'Name for people; the time of the start unless given',
    example: 'Nightly',
    minLength: 1,
    maxLength: MAX_LENGTH.name,
    optional: true,
  })
  name?: string;

  @SelectionField({
    description: 'Only these evaluations of the agent; all unless given',
    example: [EXAMPLE_ID.evaluation],
    maxItems: MAX_SELECTED,
    items: { format: 'uuid', maxLength: MAX_LENGTH.identifier },
    fault: (id) => (isUuid(id) ? undefined : 'must be the id of an evaluation (not its key)'),
  })
  evaluationIds?: string[];

  @SelectionField({
    description: 'Only evaluations with one of these tags; not together with `evaluationIds`',
    example: ['booking'],
    maxItems: LIMITS.tags,
    items: { minLength: 1, maxLength: LIMITS.tag },
    fault: (tag) =>
      tag === '' || codePoints(tag) > LIMITS.tag ? `must have 1 to ${LIMITS.tag} characters` : textFault(tag),
  })
  tags?: string[];

  @IntegerField({
    description: 'Calls of each evaluation: more than one shows which are flaky',
    example: 3,
    minimum: 1,
    maximum: 50,
    optional: true,
    default: 1,
  })
  repeat?: number;

  @IntegerField({
    description: 'Most calls of the agent at once, over all of its runs',
    example: 5,
    minimum: 1,
    maximum: 100,
    optional: true,
    default: 5,
  })
  concurrency?: number;

  @NumberField({
    description: 'Score that the run must reach to complete; null asks for none. Critical evaluations must pass anyway',
    example: 80,
    minimum: 0,
    maximum: 100,
    optional: true,
    nullable: true,
    default: null,
  })
  minimumScore?: number | null;

  @BooleanField({
    description: 'With `true` nothing is started: the answer is the plan',
    example: false,
    optional: true,
    default: false,
  })
  dryRun?: boolean;
}

/** One evaluation of a plan. */
export class PlannedEvaluation {
  @IdField({ kind: 'evaluation', description: 'Evaluation' })
  id: string;

  @StringField({ description: 'Its key', example: 'books-a-table', maxLength: MAX_LENGTH.name, nullable: true })
  key: string | null;

  @StringField({ description: 'Its name', example: 'Books a table for four', maxLength: MAX_LENGTH.name })
  name: string;

  @BooleanField({ description: 'Whether no call of it may fail', example: true })
  critical: boolean;

  @ApiProperty({ description: 'Its tags', type: [String], example: ['booking'] })
  tags: string[];

  @IdField({ kind: 'personality', description: 'Personality of the caller' })
  personalityId: string;

  @EnumField(['scripted', 'generated'], { description: 'Who plays the caller', example: 'scripted' })
  caller: 'scripted' | 'generated';

  @IntegerField({ description: 'Calls of it', example: 3, minimum: 1 })
  calls: number;
}

/** What a run would carry out. */
export class RunPlan {
  @IdField({ kind: 'agent', description: 'Agent under test' })
  agentId: string;

  @StringField({ description: 'Name for people', example: 'Nightly', maxLength: MAX_LENGTH.name })
  name: string;

  @IntegerField({ description: 'Calls of each evaluation', example: 3, minimum: 1, maximum: 50 })
  repeat: number;

  @IntegerField({ description: 'Most calls of the agent at once', example: 5, minimum: 1, maximum: 100 })
  concurrency: number;

  @NumberField({
    description: 'Score that the run must reach; null asks for none',
    example: 80,
    minimum: 0,
    maximum: 100,
    nullable: true,
  })
  minimumScore: number | null;

  @IntegerField({ description: 'Calls in all', example: 3, minimum: 1 })
  totalCalls: number;

  @ApiProperty({ description: 'The evaluations, in order', type: [PlannedEvaluation] })
  evaluations: PlannedEvaluation[];

  @ApiProperty({ description: 'What the plan leaves open, each a sentence', type: [String], example: [] })
  warnings: string[];
}

export class ReadRunQuery {
  @QueryIntegerField({
    description: 'Seconds to wait for the end of the run before it is read',
    minimum: 1,
    maximum: 60,
    optional: true,
  })
  wait?: number;
}

export class RerunQuery {
  @EnumField(['failed'], {
    description: 'Only the evaluations of which a call did not pass',
    optional: true,
  })
  only?: 'failed';
}

export class ListCallsQuery extends PageQuery {
  @EnumField(OUTCOMES, { description: 'Only calls with this outcome', optional: true })
  outcome?: Outcome;
}

const fault = (value: unknown): string | undefined =>
  typeof value === 'string' && ISO_TIME.test(value) && isOnCalendar(value.slice(0, 10)) && !isNaN(Date.parse(value))
    ? undefined
    : 'must be a date, or a date and time with its zone, as 2026-11-21 or 2026-11-21T06:37:42.758Z';
/** Taken by itself, the thirtieth of February is the second of March. */
const isOnCalendar = (day: string): boolean => !isNaN(Date.parse(day)) && new Date(day).toISOString().startsWith(day);
const ISO_TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

function MomentField(description: string): PropertyDecorator {
  return applyDecorators(
    ApiProperty({
      description,
      required: false,
      type: 'string',
      maxLength: 64,
      pattern: ISO_TIME.source,
      example: '2026-11-01',
    }),
    checked('moment', fault),
    ValidateIf((_, value) => value !== undefined),
  );
}

export class AgentMetricsQuery {
  @MomentField('Runs that ended at this time or later; 30 days before `to` unless given')
  from?: string;

  @MomentField('Runs that ended before this time; now unless given')
  to?: string;
}
