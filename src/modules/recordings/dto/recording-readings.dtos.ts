import { ApiProperty } from '@nestjs/swagger';
import {
  BooleanField,
  IdField,
  IntegerField,
  MAX_LENGTH,
  QueryIdField,
  StringField,
  TimestampField,
} from '../../../platform/http/dto/fields.js';
import { MomentField } from '../../../platform/http/dto/moment.field.js';
import { PageQuery } from '../../../platform/http/dto/pagination.js';

export class RecordingReadingsQuery extends PageQuery {
  @QueryIdField({ kind: 'agent', description: 'Only readings of calls of this agent, which may be erased' })
  agentId?: string;

  @QueryIdField({ kind: 'call', description: 'Only readings of this call, which may be deleted' })
  callId?: string;

  @MomentField('Only readings that began at or after this time', '2026-11-01')
  from?: string;
}

/** Bytes of a recording. */
export class ReadPart {
  @IntegerField({ description: 'The first byte, from 0', example: 0, minimum: 0 })
  from: number;

  @IntegerField({ description: 'The last byte', example: 99_999, minimum: 0 })
  to: number;
}

export class RecordingReading {
  @IdField({ kind: 'recordingReading', description: 'Identifier' })
  id: string;

  @IdField({ kind: 'agent', description: 'Agent of the call; it may be erased' })
  agentId: string;

  @IdField({
    kind: 'call',
    description: 'The call that was recorded, also if a call was read that judges it again; it may be deleted',
  })
  callId: string;

  @StringField({
    description: 'Its name where it was recorded; null without one, and once the agent was erased',
    example: 'CA5ef8732a3c49700934481addd5ce1659',
    maxLength: MAX_LENGTH.identifier,
    nullable: true,
  })
  externalId: string | null;

  @IdField({ kind: 'apiKey', description: 'API key that read it; it may be revoked' })
  apiKeyId: string;

  @StringField({ description: 'Purpose of the key', example: 'Quality team', maxLength: MAX_LENGTH.name })
  apiKeyName: string;

  @IdField({ kind: 'user', description: 'User of the key' })
  userId: string;

  @StringField({ description: 'Name of the user', example: 'Acme', maxLength: MAX_LENGTH.name })
  userName: string;

  @StringField({
    description: '`X-Request-Id` of the first request, which the log has too',
    example: 'b1f0c9d2-6a4e-4f3b-9a57-2c8e0d7f1b36',
    maxLength: MAX_LENGTH.identifier,
  })
  requestId: string;

  @IntegerField({ description: 'Requests of the key for this call in the same minute', example: 1, minimum: 1 })
  requests: number;

  @BooleanField({ description: 'Whether they have all bytes of the file', example: true })
  isWhole: boolean;

  @ApiProperty({
    type: [ReadPart],
    description:
      'Which bytes of the file, each once; after 100 requests in the minute one part from the first to the last byte',
  })
  parts: readonly ReadPart[];

  @TimestampField({ description: 'When the first of the requests was answered' })
  createdAt: string;

  @TimestampField({ description: 'When the last of them was answered' })
  updatedAt: string;
}
