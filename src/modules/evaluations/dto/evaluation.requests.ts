import { PartialType } from '@nestjs/swagger';
import {
  type Check,
  type Criterion,
  type EvaluationInput,
  type LineConditions,
  type ScriptStep,
  type HistoryLine,
  type Scope,
  type ToolResult,
  type VariablesRow,
} from '../../../../libs/evaluation-definition/index.js';
import type { Medium } from '../../../../libs/simulation/index.js';
import { EnumField } from '../../../platform/http/dto/fields.js';
import { SchemaField } from '../../../platform/openapi/named-schemas.js';
import { AuthoredField } from '../definition/authored-fields.js';

/** Documents a new evaluation; `EvaluationSchemaPipe` validates it. */
export class CreateEvaluationRequest implements EvaluationInput {
  @AuthoredField('key', 'optional')
  key?: string | null;

  @AuthoredField('name', 'required')
  name: string;

  @AuthoredField('scenarioText', 'required')
  scenarioText: string;

  @AuthoredField('generalInstructions', 'optional')
  generalInstructions?: string;

  @AuthoredField('personalityId', 'required')
  personalityId: string;

  @AuthoredField('vendorCallPhoneNumber', 'optional')
  vendorCallPhoneNumber?: string;

  @AuthoredField('critical', 'optional')
  critical?: boolean;

  @AuthoredField('tags', 'optional')
  tags?: string[];

  @AuthoredField('script', 'optional')
  script?: ScriptStep[];

  @AuthoredField('checks', 'optional')
  checks?: Check[];

  @AuthoredField('criteria', 'optional')
  criteria?: (Criterion | string)[];

  @AuthoredField('maxTurns', 'optional')
  maxTurns?: number;

  @AuthoredField('maxDurationSeconds', 'optional')
  maxDurationSeconds?: number;

  @AuthoredField('language', 'optional')
  language?: string | null;

  @AuthoredField('timezone', 'optional')
  timezone?: string | null;

  @AuthoredField('variables', 'optional')
  variables?: VariablesRow[];

  @AuthoredField('history', 'optional')
  history?: HistoryLine[];

  @AuthoredField('toolResults', 'optional')
  toolResults?: ToolResult[];

  @AuthoredField('conditions', 'optional')
  conditions?: LineConditions;

  @AuthoredField('turnEndMs', 'optional')
  turnEndMs?: number;

  @AuthoredField('fillers', 'optional')
  fillers?: boolean;

  @AuthoredField('agentVariables', 'optional')
  agentVariables?: VariablesRow;

  @AuthoredField('scope', 'optional')
  scope?: Scope;

  @AuthoredField('appliesTo', 'optional')
  appliesTo?: EvaluationInput['appliesTo'];
}

/** Documents a change; `EvaluationSchemaPipe` validates it. */
export class UpdateEvaluationRequest extends PartialType(CreateEvaluationRequest) {
  @SchemaField(
    {
      type: 'boolean',
      enum: [false],
      description:
        'Counts the calls of an evaluation that was made from a call from the next run on, before it has failed',
      example: false,
    },
    false,
  )
  provisional?: false;
}

export const EXPORT_FORMATS = ['json', 'yaml', 'csv'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export class ExportQuery {
  @EnumField(EXPORT_FORMATS, { description: 'Format of the file', optional: true, default: 'json' })
  format?: ExportFormat;
}

const MEDIA = ['text', 'voice'] as const satisfies readonly Medium[];

export class ImportQuery {
  @EnumField(['true', 'false'], {
    description: 'With `true` nothing is written; the response shows what an import would do',
    optional: true,
    default: 'false',
  })
  dryRun?: 'true' | 'false';

  @EnumField(MEDIA, {
    description:
      'Medium of the run that `plan` describes, as when a run is started; default: that of the protocol of the agent. Only with `dryRun=true`',
    optional: true,
  })
  medium?: Medium;
}
