import { EXAMPLE_TOKEN } from '../../../platform/http/dto/example-ids.js';
import { BooleanField, IdField, IntegerField, StringField, TimestampField } from '../../../platform/http/dto/fields.js';

const includeRecordings = {
  description: 'Whether the page also contains the recordings of the calls, if there are any',
  example: false,
};

export class CreateReportLinkRequest {
  @IntegerField({ description: 'Hours until the link expires', minimum: 1, maximum: 720, example: 72 })
  expiresInHours: number;

  @BooleanField({ ...includeRecordings, optional: true, default: false })
  includeRecordings?: boolean;
}

/** A link to the report of a run in responses; never with its address. */
export class ReportLink {
  @IdField({ kind: 'reportLink', description: 'Identifier' })
  id: string;

  @BooleanField(includeRecordings)
  includeRecordings: boolean;

  @TimestampField({ description: 'When it expires' })
  expiresAt: string;

  @IdField({ kind: 'user', description: 'User that created it' })
  createdByUserId: string;

  @TimestampField({ description: 'When it was created' })
  createdAt: string;
}

/** Response with the address of a new link, which is not shown again. */
export class ReportLinkWithUrl extends ReportLink {
  @StringField({
    description:
      'Address of the page; only shown in this response. Without the setting `PUBLIC_URL` it is the path on this service',
    example: `https://tests.example.com/reports/${EXAMPLE_TOKEN}`,
    format: 'uri-reference',
    maxLength: 2_200,
  })
  url: string;
}
