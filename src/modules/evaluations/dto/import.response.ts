import { ApiProperty } from '@nestjs/swagger';
import {
  BooleanField,
  EnumField,
  IdField,
  IntegerField,
  MAX_LENGTH,
  StringField,
} from '../../../platform/http/dto/fields.js';

export const IMPORT_ACTIONS = ['created', 'updated', 'unchanged'] as const;
export type ImportAction = (typeof IMPORT_ACTIONS)[number];

export class ImportedEvaluation {
  @StringField({ description: 'Key of the item', example: 'table-for-four', maxLength: MAX_LENGTH.identifier })
  key: string;

  @StringField({
    description: 'Identifier of the evaluation; null for one that a dry run did not create',
    example: '4f0d7a86-5b1e-4c39-9d27-61c8e0b3a5f2',
    format: 'uuid',
    maxLength: MAX_LENGTH.identifier,
    nullable: true,
  })
  id: string | null;

  @EnumField(IMPORT_ACTIONS, { description: 'What the import did, or would do', example: 'created' })
  action: ImportAction;
}

/** Another agent that uses a personality. */
export class UsingAgent {
  @IdField({ kind: 'agent', description: 'Identifier' })
  id: string;

  @StringField({ description: 'Display name', example: 'Reservations', maxLength: MAX_LENGTH.name, nullable: true })
  name: string | null;
}

export class ImportedPersonality {
  @StringField({ description: 'Name of the personality', example: 'Impatient regular', maxLength: MAX_LENGTH.name })
  name: string;

  @StringField({
    description: 'Identifier of the personality; null for one that a dry run did not create',
    example: 'c7e15a3b-2f68-4d90-a1b4-8e9d0c6f7251',
    format: 'uuid',
    maxLength: MAX_LENGTH.identifier,
    nullable: true,
  })
  id: string | null;

  @EnumField(IMPORT_ACTIONS, { description: 'What the import did, or would do', example: 'updated' })
  action: ImportAction;

  @ApiProperty({
    type: [UsingAgent],
    description: 'Other agents whose callers an update changes: at most 20, newest first; empty unless `updated`',
  })
  otherAgents: UsingAgent[];

  @IntegerField({ description: 'Number of all other agents whose callers an update changes', example: 1, minimum: 0 })
  otherAgentCount: number;
}

/** What an import did with the personalities of the file. */
export class ImportedPersonalities {
  @IntegerField({ description: 'Number of new personalities', example: 0, minimum: 0 })
  created: number;

  @IntegerField({ description: 'Number of changed personalities', example: 1, minimum: 0 })
  updated: number;

  @IntegerField({ description: 'Number of unchanged personalities', example: 0, minimum: 0 })
  unchanged: number;

  @ApiProperty({ type: [ImportedPersonality], description: 'One entry per personality of the file, in file order' })
  items: ImportedPersonality[];
}

/** An evaluation of a file that a run could not take. */
export class Misfit {
  @IntegerField({
    description: 'Position of the item among the evaluations of the file, from 0',
    example: 0,
    minimum: 0,
  })
  index: number;

  @StringField({ description: 'Key of the item', example: 'table-for-four', maxLength: MAX_LENGTH.identifier })
  key: string;

  @StringField({
    description: 'Why a run could not take it, as the start of a run would say',
    example: 'it has no script, and no language model is configured to play its caller (LLM_BASE_URL, LLM_MODEL)',
    maxLength: MAX_LENGTH.text,
  })
  reason: string;

  @ApiProperty({
    description:
      "What would provide the agent's words or tool calls, one sentence each; missing unless that is what it needs",
    type: [String],
    required: false,
    example: [
      "transcription: no transcription server is configured (STT_BASE_URL); with it, calls over twilio-media-streams have the agent's words",
    ],
  })
  cures?: string[];
}

/** What a run would do with an evaluation of a file. */
export class SuiteEvaluation {
  @StringField({ description: 'Key of the item', example: 'table-for-four', maxLength: MAX_LENGTH.identifier })
  key: string;

  @StringField({ description: 'Its name', example: 'Books a table for four', maxLength: MAX_LENGTH.name })
  name: string;

  @BooleanField({ description: 'Whether every call of it must pass', example: true })
  critical: boolean;

  @BooleanField({
    description:
      'Whether the evaluation that it replaces is provisional: then it stays so, and is in no condition of the gate',
    example: false,
  })
  provisional: boolean;

  @ApiProperty({ description: 'Its tags', type: [String], example: ['booking'] })
  tags: string[];

  @EnumField(['scripted', 'generated'], {
    description: 'How the caller is played: from the script, or by a language model',
    example: 'scripted',
  })
  caller: 'scripted' | 'generated';

  @IntegerField({ description: 'Its cases: rows of variables, or 1 without', example: 1, minimum: 1 })
  cases: number;

  @ApiProperty({
    description: 'What the caller does and what is checked, in words, one sentence each; variables are not replaced',
    type: [String],
    example: ['The caller says "A table for four, please."', 'Check: Agent says "booked".'],
  })
  explanation: string[];
}

/** What a run of the file's evaluations would do, by the protocol of the agent and the configured engines. */
export class SuitePlan {
  @ApiProperty({
    description:
      'Evaluations that a run could not take, each with the first reason. If the agent cannot be called at all, all of them',
    type: [Misfit],
  })
  misfits: Misfit[];

  @ApiProperty({
    description: 'Weaknesses of the evaluations, one sentence each',
    type: [String],
    example: ['"Books a table": has neither checks nor criteria, so every completed call passes.'],
  })
  warnings: string[];

  @ApiProperty({ description: 'One entry per evaluation of the file, in file order', type: [SuiteEvaluation] })
  evaluations: SuiteEvaluation[];
}

/** Result of an import or of its dry run. */
export class ImportResult {
  @BooleanField({ description: 'Whether this was a dry run: nothing was written', example: false })
  dryRun: boolean;

  @IntegerField({ description: 'Number of new evaluations', example: 1, minimum: 0 })
  created: number;

  @IntegerField({ description: 'Number of changed evaluations', example: 0, minimum: 0 })
  updated: number;

  @IntegerField({ description: 'Number of unchanged evaluations', example: 0, minimum: 0 })
  unchanged: number;

  @ApiProperty({ type: [ImportedEvaluation], description: 'One entry per evaluation of the file, in file order' })
  items: ImportedEvaluation[];

  @ApiProperty({ type: ImportedPersonalities, description: 'What was done with the personalities of the file' })
  personalities: ImportedPersonalities;

  @ApiProperty({
    type: SuitePlan,
    required: false,
    description: 'With `dryRun`, what a run of these evaluations would do, refuse and warn of; missing otherwise',
  })
  plan?: SuitePlan;
}
