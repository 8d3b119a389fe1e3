import { OmitType } from '@nestjs/swagger';
import { type Role, ROLES } from '../../../platform/access/caller.js';
import {
  checked,
  EnumField,
  IdField,
  MAX_LENGTH,
  StringField,
  TimestampField,
} from '../../../platform/http/dto/fields.js';

const fields = {
  name: { description: 'Purpose of the key', example: 'Nightly pipeline', minLength: 1, maxLength: MAX_LENGTH.name },
  role: {
    description:
      '`VIEWER` reads, `EDITOR` also writes, `ADMIN` also reads and changes the settings of the workspace, such as API keys and webhooks, and deletes runs',
    example: 'EDITOR',
  },
  expiresAt: { description: 'When the key expires; null for never', example: null, nullable: true },
} as const;

const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

/** An API key with its value. */
export class NewApiKey {
  @IdField({ kind: 'apiKey', description: 'Identifier' })
  id: string;

  @StringField(fields.name)
  name: string;

  @EnumField(ROLES, fields.role)
  role: Role;

  @StringField({
    description: 'First characters of the value, to recognise the key',
    example: 'vat_4fGh81Kq',
    maxLength: 16,
  })
  prefix: string;

  @TimestampField({
    description: 'When it was last used, accurate to a minute; null if never',
    nullable: true,
    example: null,
  })
  lastUsedAt: string | null;

  @TimestampField(fields.expiresAt)
  expiresAt: string | null;

  @TimestampField({ description: 'When it was created' })
  createdAt: string;

  @IdField({ kind: 'user', description: 'User that created it' })
  createdByUserId: string;

  @StringField({
    description: 'The value; only shown in this response',
    example: 'vat_4fGh81KqXo2bD7vNcR5sT9yWzA3eL6uM0pJi',
    maxLength: MAX_LENGTH.identifier,
  })
  key: string;
}

/** An API key without its value, which is stored nowhere. */
export class ApiKey extends OmitType(NewApiKey, ['key'] as const) {}

export class CreateApiKeyRequest {
  @StringField(fields.name)
  name: string;

  @EnumField(ROLES, { ...fields.role, optional: true, default: 'EDITOR' })
  role?: Role;

  @checked('future', futureViolation)
  @StringField({
    ...fields.expiresAt,
    format: 'date-time',
    example: '2099-12-31T23:59:59.000Z',
    maxLength: 64,
    optional: true,
  })
  expiresAt?: string | null;
}

function futureViolation(value: unknown): string | undefined {
  // Other types are reported by the field's own validator.
  if (typeof value !== 'string') return undefined;
  const time = DATE_TIME.test(value) ? Date.parse(value) : NaN;
  if (Number.isNaN(time)) return 'must be an ISO 8601 date and time such as 2099-12-31T23:59:59Z';
  return time > Date.now() ? undefined : 'must be in the future';
}
