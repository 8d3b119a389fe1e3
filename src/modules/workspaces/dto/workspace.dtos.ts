import {
  EnumField,
  IdField,
  IntegerField,
  MAX_LENGTH,
  NumberField,
  StringField,
  TimestampField,
} from '../../../platform/http/dto/fields.js';
import { type Plan, PLANS } from '../../../platform/config/plans.js';

const fields = {
  name: { description: 'Display name', example: 'Acme', minLength: 1, maxLength: MAX_LENGTH.name },
  scoreThreshold: {
    description:
      'A run that scores below this value when the previous run did not sends `agent.score_dropped`; null to disable',
    example: 80,
    minimum: 0,
    maximum: 100,
    nullable: true,
  },
} as const;

/** The workspace of the API key. */
export class Workspace {
  @IdField({ kind: 'workspace', description: 'Identifier' })
  id: string;

  @StringField(fields.name)
  name: string;

  @EnumField(PLANS, { description: 'Plan, set by an administrator', example: 'PRO' })
  plan: Plan;

  @IntegerField({
    description: "Rate limit: the workspace's override, otherwise that of its plan",
    example: 300,
    minimum: 1,
  })
  requestsPerMinute: number;

  @NumberField(fields.scoreThreshold)
  scoreThreshold: number | null;

  @TimestampField({ description: 'When it was created' })
  createdAt: string;

  @TimestampField({ description: 'When it was last changed' })
  updatedAt: string;
}

/** A partial update. */
export class UpdateWorkspaceRequest {
  @StringField({ ...fields.name, optional: true })
  name?: string;

  @NumberField({ ...fields.scoreThreshold, optional: true })
  scoreThreshold?: number | null;
}
