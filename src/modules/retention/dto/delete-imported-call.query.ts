import { StringField } from '../../../platform/http/dto/fields.js';

export class DeleteImportedCallQuery {
  @StringField({
    description: "The call's name where it was recorded",
    minLength: 1,
    maxLength: 255,
    example: 'CA5ef8732a3c49700934481addd5ce1659',
  })
  externalId: string;
}
