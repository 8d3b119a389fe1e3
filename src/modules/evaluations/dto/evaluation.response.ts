import { ApiProperty } from '@nestjs/swagger';
import type {
  Check,
  Criterion,
  LineConditions,
  ScriptStep,
  HistoryLine,
  NestedCheck,
  Scope,
  ToolResult,
  VariablesRow,
} from '../../../../libs/evaluation-definition/index.js';
import { BooleanField, IdField, MAX_LENGTH, StringField, TimestampField } from '../../../platform/http/dto/fields.js';
import { AuthoredField } from '../definition/authored-fields.js';

/** What an evaluation was made from. */
export class EvaluationOrigin {
  @IdField({ kind: 'call', description: 'The call, which may be deleted' })
  callId: string;
}

/** A test scenario in responses. */
export class Evaluation {
  @IdField({ kind: 'evaluation', description: 'Identifier' })
  id: string;

  @TimestampField({ description: 'When it was created' })
  createdAt: string;

  @TimestampField({ description: 'When it was last changed' })
  updatedAt: string;

  @StringField({ description: 'Display name', example: 'Books a table for four', maxLength: MAX_LENGTH.name })
  name: string;

  @StringField({
    description: 'Goal and facts of the caller',
    example: 'You want a table for four on Friday at 19:30 under the name Rossi.',
    maxLength: MAX_LENGTH.text,
  })
  scenarioText: string;

  @StringField({ description: 'Instructions beyond the scenario', example: 'Be polite.', maxLength: MAX_LENGTH.text })
  generalInstructions: string;

  @IdField({ kind: 'personality', description: 'Personality of the caller' })
  personalityId: string;

  @IdField({ kind: 'agent', description: 'Agent under test' })
  agentId: string;

  @IdField({ kind: 'user', description: 'User that created it' })
  createdByUserId: string;

  @IdField({ kind: 'workspace', description: 'Workspace of the evaluation' })
  workspaceId: string;

  @StringField({
    description: 'Phone number that the call uses; may be empty',
    example: '+15550100',
    maxLength: MAX_LENGTH.identifier,
  })
  vendorCallPhoneNumber: string;

  @AuthoredField('key', 'response')
  key: string | null;

  @AuthoredField('critical', 'response')
  critical: boolean;

  @AuthoredField('tags', 'response')
  tags: readonly string[];

  @AuthoredField('script', 'response')
  script: readonly ScriptStep[];

  @AuthoredField('checks', 'response')
  checks: readonly Check[];

  @AuthoredField('criteria', 'response')
  criteria: readonly Criterion[];

  @AuthoredField('maxTurns', 'response')
  maxTurns: number;

  @AuthoredField('maxDurationSeconds', 'response')
  maxDurationSeconds: number;

  @AuthoredField('language', 'response')
  language: string | null;

  @AuthoredField('timezone', 'response')
  timezone: string | null;

  @AuthoredField('variables', 'response')
  variables: readonly VariablesRow[];

  @AuthoredField('history', 'response')
  history: readonly HistoryLine[];

  @AuthoredField('toolResults', 'response')
  toolResults: readonly ToolResult[];

  @AuthoredField('conditions', 'response')
  conditions: LineConditions;

  @AuthoredField('turnEndMs', 'response')
  turnEndMs: number;

  @AuthoredField('fillers', 'response')
  fillers: boolean;

  @AuthoredField('agentVariables', 'response')
  agentVariables: VariablesRow;

  @AuthoredField('scope', 'response')
  scope: Scope;

  @AuthoredField('appliesTo', 'response')
  appliesTo: NestedCheck | null;

  @ApiProperty({
    type: EvaluationOrigin,
    nullable: true,
    description: 'What it was made from; null for an evaluation that was written',
    example: null,
  })
  origin: EvaluationOrigin | null;

  @BooleanField({
    description: 'Whether its calls do not count, because it was made from a call and has not failed in a run since',
    example: false,
  })
  provisional: boolean;

  @TimestampField({ description: 'When it stopped being provisional', nullable: true })
  provenAt: string | null;
}
