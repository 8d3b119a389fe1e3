import { ApiProperty, IntersectionType } from '@nestjs/swagger';
import type { VariablesRow } from '../../../../libs/evaluation-definition/index.js';
import type {
  Attempt,
  CallExchange,
  CallResult,
  CallVersions,
  CheckResult,
  CriterionResult,
  Failure,
  Invalidity,
  Measures,
  Reliability,
  TimedWord,
  TimelineEntry,
  UnusableAnswer,
  VoiceMeasures,
  WireFinding,
  WordsFrom,
} from '../../../../libs/simulation/index.js';
import { RECORDING_OMITTED, type RecordingOmitted } from '../../../../libs/simulation/index.js';
import type { Outcome } from '../../../../libs/statistics/index.js';
import {
  BooleanField,
  EnumField,
  IdField,
  IntegerField,
  MAX_LENGTH,
  NumberField,
  StringField,
  TimestampField,
} from '../../../platform/http/dto/fields.js';
import { EXAMPLE_ID } from '../../../platform/http/dto/example-ids.js';
import { SchemaField } from '../../../platform/openapi/named-schemas.js';
import { orNull } from '../../../platform/openapi/schema-parts.js';
import type { RecordingFacts } from '../../recordings/recordings.service.js';
import type { CallStatus, Medium } from '../../runs/call.entity.js';
import type { EvaluationSnapshot } from '../../runs/run-evaluation.entity.js';
import type { AgentSnapshot } from '../../runs/run.entity.js';
import { CALL_STATUSES, MEDIA, OUTCOMES, RUN_ORIGINS, type RunOrigin } from '../../runs/runs.service.js';
import { AgentVariablesField, AssistantVersionField, variablesRow } from '../../runs/dto/agent-variables.field.js';
import { ListField, NullableField, NullableListField, refTo } from './call-schemas.js';

/** One attempt at a call. */
export class CallAttempt implements Attempt {
  @EnumField(OUTCOMES, { description: 'Outcome', example: 'passed' })
  outcome: Outcome;

  @StringField({ description: 'Code of the failure; null without one', maxLength: 255, nullable: true, example: null })
  failureCode: Attempt['failureCode'];

  @StringField({ description: 'Why', maxLength: MAX_LENGTH.text, example: 'All 6 requirements were met.' })
  reason: string;

  @TimestampField({ description: 'When it started' })
  startedAt: string;

  @TimestampField({ description: 'When it ended' })
  endedAt: string;

  @StringField({
    description: 'UUID that the agent received with this attempt (`X-Call-Id`); null if it was not called',
    maxLength: 255,
    nullable: true,
    example: '0c9a5e0e-6f0b-4a58-9c4f-2b1f8e1f7a55',
  })
  callId: string | null;

  @IntegerField({
    description: "How often the agent spoke: the caller's turns that it answered, and a greeting",
    example: 6,
    minimum: 0,
  })
  answeredTurns: number;
}

/** A call on a platform that bills. */
export class PlatformCall {
  @StringField({
    description: 'Id of the latest attempt in the records of the platform; null if it gave none',
    maxLength: MAX_LENGTH.text,
    nullable: true,
    example: 'conv_7f3a',
  })
  id: string | null;

  @NumberField({ description: 'Seconds that the platform bills, over all attempts', minimum: 0, example: 62.4 })
  paidSeconds: number;

  @BooleanField({
    description: 'Whether the seconds were measured here for an attempt, because the platform did not say them',
    example: false,
  })
  isEstimated: boolean;

  @IntegerField({ description: 'How long it waited for lines of the platform', minimum: 0, example: 0 })
  waitedForLineMs: number;
}

/** What the words of a call decide. */
export type Preliminary = Pick<CallResult, 'outcome' | 'checks'>;

/** One conversation with the agent. */
export class Call {
  @IdField({ kind: 'call', description: 'Identifier' })
  id: string;

  @IdField({ kind: 'run', description: 'Run that it belongs to' })
  runId: string;

  @IdField({ kind: 'agent', description: 'Agent under test' })
  agentId: string;

  @IdField({ kind: 'workspace', description: 'Workspace that it belongs to' })
  workspaceId: string;

  @IdField({ kind: 'evaluation', description: 'Evaluation that it is a call of' })
  evaluationId: string;

  @StringField({ description: 'Name of the evaluation', example: 'Books a table for four', maxLength: MAX_LENGTH.name })
  evaluationName: string;

  @StringField({
    description:
      "Identity of its case across runs: the evaluation's id and, with variables, `#` and the beginning of the SHA-256 hash of the row",
    example: `${EXAMPLE_ID.evaluation}#6f1ed002ab55`,
    maxLength: 255,
  })
  caseKey: string;

  @SchemaField(
    {
      ...variablesRow,
      nullable: true,
      description: 'Row of variables of its case; null without',
      examples: [{ people: 4 }],
    },
    true,
  )
  variables: VariablesRow | null;

  @IntegerField({ description: 'Number of the call within its case, from 1', example: 1, minimum: 1 })
  repetition: number;

  @EnumField(CALL_STATUSES, { description: 'Status', example: 'ENDED' })
  status: CallStatus;

  @EnumField(OUTCOMES, {
    description:
      'Outcome of an ended call: `passed`; `failed` (the agent); `invalid` (the simulated caller broke its role); `error` (infrastructure). Only the first two are counted',
    nullable: true,
    example: 'passed',
  })
  outcome: Outcome | null;

  @SchemaField(
    {
      ...orNull(refTo('CallPreliminary')),
      description:
        'What the words of a production call decide while its recording is awaited (status `RUNNING`); null for others',
      example: null,
    },
    true,
  )
  preliminary: Preliminary | null;

  @BooleanField({
    description: 'Whether its evaluation was provisional when the run started: then its outcome is not counted',
    example: false,
  })
  provisional: boolean;

  @NumberField({
    description: 'Weighted share of checks and criteria met; null if the call is not counted',
    minimum: 0,
    maximum: 100,
    nullable: true,
    example: 100,
  })
  score: number | null;

  @StringField({
    description: 'Reason in sentences',
    maxLength: MAX_LENGTH.text,
    nullable: true,
    example: 'All 6 requirements were met.',
  })
  reason: string | null;

  @ApiProperty({ type: [CallAttempt], description: 'Attempts so far, oldest first' })
  attempts: CallAttempt[];

  @IntegerField({
    description:
      'How often it was repeated after an attempt that ended as `error` or `invalid`. Interrupted attempts (`failureCode` `interrupted` or `thread_ended`) do not count',
    example: 0,
    minimum: 0,
  })
  retries: number;

  @ApiProperty({
    type: [Number],
    description: 'Response latencies in order, in milliseconds',
    example: [412.3, 388.1],
  })
  latencies: number[];

  @TimestampField({ description: 'When its first attempt started', nullable: true })
  startedAt: string | null;

  @TimestampField({ description: 'When it ended', nullable: true })
  endedAt: string | null;

  @TimestampField({ description: 'When it was planned' })
  createdAt: string;

  @TimestampField({ description: 'When it last changed' })
  updatedAt: string;
}

/** A call in the list of its agent. */
export class AgentCall extends Call {
  @EnumField(RUN_ORIGINS, { description: 'Whose call it was', example: 'test' })
  origin: RunOrigin;

  @StringField({ description: 'Its name where it was recorded', maxLength: 255, nullable: true, example: null })
  externalId: string | null;
}

/** What is recorded of one attempt. Without a result, the fields are null or empty. */
export class CallRecord {
  @ListField('TimelineEntry', 'Events of the call, in order')
  timeline: readonly TimelineEntry[];

  @NullableField('CallEnd', 'How it ended')
  end: CallResult['end'] | null;

  @ListField('CheckResult', 'The checks with their evidence')
  checks: readonly CheckResult[];

  @ListField('CriterionResult', 'The criteria with their evidence')
  criteria: readonly CriterionResult[];

  @NullableField('CallMeasures', 'Measures')
  measures: Measures | null;

  @NullableField('CallFailure', 'Why the call could not be completed')
  failure: Failure | null;

  @NullableField('CallInvalidity', 'How the caller broke its role')
  invalidity: Invalidity | null;

  @NullableField('CallVersions', 'Versions used for the result')
  versions: CallVersions | null;

  @NullableField('CallExchange', 'Requests to the agent; null if it was not called')
  exchange: CallExchange | null;

  @ListField('UnusableAnswer', "Answers of the tester's language model that could not be used")
  unusableAnswers: readonly UnusableAnswer[];

  @NullableField('CallReliability', 'How far the tester kept up with the call')
  reliability: Reliability | null;

  @NullableField('CallVoice', 'Measures of a voice call, as heard; null for a text call')
  voice: VoiceMeasures | null;

  @NullableListField(
    'WireFinding',
    "Deviations of the agent from its platform's protocol; null for a call that was recorded elsewhere, which does not show them",
  )
  wireFindings: readonly WireFinding[] | null;

  @ListField('TimedWord', 'Words of a voice call with their times, where they are known')
  words: readonly TimedWord[];

  @IntegerField({
    description: 'Further words of the call, which are not listed: at most 20,000 are',
    example: 0,
    minimum: 0,
  })
  wordsOmitted: number;

  @NullableField('WordsFrom', 'Where the words of the agent on a voice call come from; null if none are known')
  wordsFrom: WordsFrom | null;

  @NullableField('CallRecording', 'What was recorded (`GET /calls/{id}/recording`)')
  recording: RecordingFacts | null;

  @EnumField(RECORDING_OMITTED, {
    description:
      'Why a voice call has no recording: `off` (RECORDINGS), `quota` (the workspace keeps as much as it may), `disk` (it could not be written); null otherwise',
    example: null,
    nullable: true,
  })
  recordingOmitted: RecordingOmitted | null;

  @StringField({
    description:
      'Why the sound of a production call was not measured, so that its words decide; null if it was, or was not to be',
    example: null,
    maxLength: MAX_LENGTH.text,
    nullable: true,
  })
  unmeasured: string | null;
}

/** One attempt at a call with its own result. An attempt whose process died has none. */
export class CallAttemptDetails extends IntersectionType(CallAttempt, CallRecord) {
  @BooleanField({ description: 'Whether parts of its result were omitted because it was too large', example: false })
  isShortened: boolean;
}

/** What a call was imported with. */
export interface ImportFacts {
  readonly origin: 'import' | 'production';
  readonly externalId: string | null;
  readonly endedReason: string | null;
  readonly reported: unknown;
}

/** A call with its transcript and findings, which are those of its last attempt. */
export class CallDetails extends IntersectionType(Call, CallRecord) {
  @SchemaField(refTo('CallEvaluation'), true)
  evaluation: EvaluationSnapshot;

  @SchemaField(refTo('CallAgent'), true)
  agent: AgentSnapshot;

  @StringField({
    description: 'Version of the agent, that of the run',
    example: 'a1b2c3d',
    maxLength: MAX_LENGTH.name,
    nullable: true,
  })
  agentVersion: string | null;

  @StringField({
    description:
      'Protocol, decided on at the start of the run; `recording` for an imported call; null for calls of a version that did not store it',
    example: 'chat-completions',
    maxLength: MAX_LENGTH.name,
    nullable: true,
  })
  protocol: string | null;

  @EnumField(MEDIA, {
    description: 'Medium of that protocol; null for calls of a version that did not store it',
    example: 'text',
    nullable: true,
  })
  medium: Medium | null;

  @SchemaField(
    {
      ...orNull(refTo('CallImport')),
      description: 'What it was imported with; null if the service made it',
      example: null,
    },
    true,
  )
  imported: ImportFacts | null;

  @AgentVariablesField('Dynamic variables that evaluation and run gave to the platform of the agent')
  agentVariables: VariablesRow;

  @AssistantVersionField()
  assistantVersion: string | null;

  @ApiProperty({
    type: PlatformCall,
    nullable: true,
    description: 'The call on its platform, over all attempts; null if the platform does not bill',
    example: null,
  })
  platform: PlatformCall | null;

  @ApiProperty({ type: [CallAttemptDetails], description: 'Attempts so far with their results, oldest first' })
  declare attempts: CallAttemptDetails[];
}
