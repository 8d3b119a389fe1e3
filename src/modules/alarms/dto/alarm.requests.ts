import { checked, MAX_LENGTH, StringField, TimestampField } from '../../../platform/http/dto/fields.js';
import { isDateAndTime } from '../../../platform/http/dto/moment.field.js';

export class MuteAlarmsRequest {
  @TimestampField({
    description: 'End of the mute, in the future; null ends a mute at once',
    example: '2099-12-31T23:59:59.000Z',
    nullable: true,
  })
  @checked('moment', (value) =>
    typeof value === 'string' && !isDateAndTime(value)
      ? 'must be an ISO 8601 date and time such as 2099-12-31T23:59:59Z'
      : undefined,
  )
  until: string | null;

  @StringField({
    description: 'Why',
    example: 'The booking backend is being moved',
    minLength: 1,
    maxLength: MAX_LENGTH.name,
  })
  reason: string;
}
