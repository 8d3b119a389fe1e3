import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateIf } from 'class-validator';
import { PERSONAL_DATA_KINDS, type PersonalDataKind } from '../../../../libs/evaluation-definition/index.js';
import {
  BooleanField,
  checked,
  EnumField,
  IdField,
  IntegerField,
  MAX_LENGTH,
  StringField,
  TimestampField,
} from '../../../platform/http/dto/fields.js';
import { isDateAndTime } from '../../../platform/http/dto/moment.field.js';
import { COUNTED_AS, FETCHED_OUTCOMES, type FetchedOutcome } from '../fetched-call.entity.js';
import { MONITORING_STATES, type MonitoringState, SOUND_SETTINGS, type SoundSetting } from '../monitoring.entity.js';

const samplePercent = {
  description: 'Share of the calls that is taken, in percent; the same calls, whenever they are fetched',
  example: 100,
  minimum: 0,
  maximum: 100,
};
const recordings = {
  description:
    'What becomes of the recordings on the platform: `measure_only`: they are read once to measure the call, and not stored. `keep` (ADMIN): they are also stored, not redacted. `none`: they are not read, and no time is measured',
  example: 'measure_only',
} as const;
const judge = {
  description:
    'Whether the language model judges criteria: the words of real callers are sent to `LLM_BASE_URL` only if it is true',
  example: false,
};
const maxJudgedPerDay = {
  description:
    'Calls of a day (UTC) whose criteria the language model judges at most; deterministic checks decide on all',
  example: 500,
  minimum: 0,
  maximum: 10_000,
};

const MEANINGS: Readonly<Record<FetchedOutcome, string>> = {
  judged: 'Calls that are judged',
  not_applicable: 'Calls that no evaluation is about',
  over_limit: 'Calls beyond the limit of a day',
  own: 'Tests of this service, which are not production calls',
  sampled_out: 'Calls that are not in the sample',
  malformed: 'Calls whose record cannot be read',
  no_words: 'Calls whose record has no words',
  awaited: 'Calls whose record or recording is read again later',
};

/** Kinds of personal data, each once. */
function RedactField({ optional = false }: { optional?: boolean } = {}): PropertyDecorator {
  const known: readonly unknown[] = PERSONAL_DATA_KINDS;
  const violation = (value: unknown): string | undefined => {
    if (!Array.isArray(value)) return 'must be an array';
    if (!value.every((kind) => known.includes(kind))) return `must hold only ${PERSONAL_DATA_KINDS.join(', ')}`;
    return new Set(value).size < value.length ? 'must not name a kind twice' : undefined;
  };
  return applyDecorators(
    ApiProperty({
      description:
        'Kinds of personal data that are replaced by placeholders in what is stored and sent to the language model. Checks decide on the words as they were said',
      type: 'array',
      items: { type: 'string', enum: [...PERSONAL_DATA_KINDS] },
      uniqueItems: true,
      required: !optional,
      ...(optional && { default: [...PERSONAL_DATA_KINDS] }),
      example: [...PERSONAL_DATA_KINDS],
    }),
    checked('kinds', violation),
    ...(optional ? [ValidateIf((_, value) => value !== undefined)] : []),
  );
}

/** Calls that were fetched on this day (UTC), by what became of them. */
export class FetchedCounts implements Record<(typeof COUNTED_AS)[FetchedOutcome], number> {
  judged: number;

  @IntegerField({ description: 'Judged calls that failed by at least one evaluation', example: 0, minimum: 0 })
  failed: number;

  notApplicable: number;
  overLimit: number;
  own: number;
  sampledOut: number;
  malformed: number;
  noWords: number;
  awaited: number;
}
for (const outcome of FETCHED_OUTCOMES) {
  const options = { description: MEANINGS[outcome], example: 0, minimum: 0 };
  IntegerField(options)(FetchedCounts.prototype, COUNTED_AS[outcome]);
}

export class FetchIssue {
  @StringField({ description: 'Id of the call in the records of the platform', example: '0198a1c2', maxLength: 256 })
  externalId: string;

  @TimestampField({ description: 'When it ended' })
  endedAt: string;

  @StringField({
    description: 'Why its record cannot be read',
    example: 'The answer of the platform cannot be used: its record of the call cannot be read: it has no id',
    maxLength: 2_000,
  })
  message: string;
}

export class PendingEvaluation {
  @IdField({ kind: 'evaluation', description: 'Id of the evaluation' })
  id: string;

  @StringField({ description: 'Its name', example: 'Books the table', maxLength: MAX_LENGTH.name })
  name: string;

  @StringField({
    description: 'The UTC day from which on it counts as it is now',
    example: '2026-11-30',
    format: 'date',
    maxLength: 10,
  })
  countsFrom: string;
}

export class Monitoring {
  @EnumField(MONITORING_STATES, {
    description:
      '`off`: `callMonitoring` of the agent is false. `starting`: it was switched on within the last minutes. `invalid_credential`: the platform refuses the key; a new key resumes. `rate_limited`, `unavailable`: it is tried again',
    example: 'healthy',
  })
  state: MonitoringState;

  @StringField({
    description:
      'Why calls are not fetched, in the words of the platform if it refuses, or, while `off`, why they cannot be; null while all is well',
    example: null,
    maxLength: 2_000,
    nullable: true,
  })
  message: string | null;

  @TimestampField({ description: 'When calls were fetched last', example: '2026-11-29T18:02:11.000Z', nullable: true })
  lastFetchedAt: string | null;

  @IntegerField(samplePercent)
  samplePercent: number;

  @EnumField(SOUND_SETTINGS, recordings)
  recordings: SoundSetting;

  @RedactField()
  redact: PersonalDataKind[];

  @BooleanField(judge)
  judge: boolean;

  @IntegerField(maxJudgedPerDay)
  maxJudgedPerDay: number;

  @ApiProperty({ type: FetchedCounts, description: 'Calls that were fetched today (UTC)' })
  today: FetchedCounts;

  @ApiProperty({
    type: [PendingEvaluation],
    description:
      'Evaluations for production calls that were added or changed after the first call of today (UTC): as they are now, they count from the next day; at most 100',
  })
  pendingEvaluations: PendingEvaluation[];

  @ApiProperty({
    type: [FetchIssue],
    description: 'The newest 20 calls whose record cannot be read, also those that are read again; none for a VIEWER',
  })
  issues: FetchIssue[];
}

export class PutMonitoringRequest {
  @IntegerField({ ...samplePercent, optional: true, default: 100 })
  samplePercent?: number;

  @EnumField(SOUND_SETTINGS, { ...recordings, optional: true, default: 'measure_only' })
  recordings?: SoundSetting;

  @RedactField({ optional: true })
  redact?: PersonalDataKind[];

  @BooleanField({ ...judge, optional: true, default: false })
  judge?: boolean;

  @IntegerField({ ...maxJudgedPerDay, optional: true, default: 500 })
  maxJudgedPerDay?: number;
}

export class BackfillRequest {
  @checked('moment', (value) =>
    typeof value === 'string' && !isDateAndTime(value)
      ? 'must be an ISO 8601 date and time such as 2026-11-20T00:00:00Z'
      : undefined,
  )
  @TimestampField({
    description: 'Calls that ended from then on are fetched, too; at most 30 days ago',
    example: '2026-11-20T00:00:00.000Z',
  })
  from: string;
}
