import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import {
  type Check,
  type Criterion,
  type EvaluationInput,
  inputViolations,
  type ScriptStep,
} from '../../../../libs/evaluation-definition/index.js';
import { EnumField } from '../../../platform/http/dto/fields.js';
import { AuthoredField } from '../definition/authored-fields.js';
import { IssueList } from '../definition/issue-list.js';

/**
 * The body of a new evaluation or of a change to one. It is checked as a whole against the JSON Schema that also makes
 * the documentation and that import uses, so that all of its faults are found at once.
 */
export const EvaluationBody = createParamDecorator((kind: 'new' | 'change', context: ExecutionContext): unknown => {
  const body: unknown = context.switchToHttp().getRequest<Request>().body;
  new IssueList().addAll(inputViolations(kind, body)).throwIfAny();
  return body;
});

/** Documentation only: `EvaluationBody` checks. */
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
  criteria?: Criterion[];

  @AuthoredField('maxTurns', 'optional')
  maxTurns?: number;

  @AuthoredField('maxDurationSeconds', 'optional')
  maxDurationSeconds?: number;
}

/** Documentation only: `EvaluationBody` checks. */
export class UpdateEvaluationRequest implements Partial<EvaluationInput> {
  @AuthoredField('key', 'changeable')
  key?: string | null;

  @AuthoredField('name', 'changeable')
  name?: string;

  @AuthoredField('scenarioText', 'changeable')
  scenarioText?: string;

  @AuthoredField('generalInstructions', 'changeable')
  generalInstructions?: string;

  @AuthoredField('personalityId', 'changeable')
  personalityId?: string;

  @AuthoredField('vendorCallPhoneNumber', 'changeable')
  vendorCallPhoneNumber?: string;

  @AuthoredField('critical', 'changeable')
  critical?: boolean;

  @AuthoredField('tags', 'changeable')
  tags?: string[];

  @AuthoredField('script', 'changeable')
  script?: ScriptStep[];

  @AuthoredField('checks', 'changeable')
  checks?: Check[];

  @AuthoredField('criteria', 'changeable')
  criteria?: Criterion[];

  @AuthoredField('maxTurns', 'changeable')
  maxTurns?: number;

  @AuthoredField('maxDurationSeconds', 'changeable')
  maxDurationSeconds?: number;
}

export const EXPORT_FORMATS = ['json', 'yaml', 'csv'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export class ExportQuery {
  @EnumField(EXPORT_FORMATS, { description: 'Format of the file', optional: true, default: 'json' })
  format?: ExportFormat;
}

export class ImportQuery {
  @EnumField(['true', 'false'], {
    description: 'With `true` nothing is written; the response shows what an import would do',
    optional: true,
    default: 'false',
  })
  dryRun?: 'true' | 'false';
}
