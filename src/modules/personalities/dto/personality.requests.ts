import {
  type Gender,
  GENDERS,
  type Interrupts,
  INTERRUPTS,
  PERSONALITY_PROVIDERS,
  type PersonalityProvider,
} from '../../../../libs/evaluation-definition/index.js';
import { OmitType, PartialType } from '@nestjs/swagger';
import { BooleanField, EnumField, MAX_LENGTH, NumberField, StringField } from '../../../platform/http/dto/fields.js';
import { personalityFields } from './personality.fields.js';

export class CreatePersonalityRequest {
  @StringField(personalityFields.name)
  name: string;

  @StringField({ ...personalityFields.description, optional: true, default: '' })
  description?: string;

  @StringField({ ...personalityFields.prompt, optional: true, default: '' })
  prompt?: string;

  @NumberField({ ...personalityFields.temperature, optional: true, default: 0.7 })
  temperature?: number;

  @StringField({ ...personalityFields.accent, optional: true, default: '' })
  accent?: string;

  @BooleanField({ ...personalityFields.backgroundNoise, optional: true, default: false })
  backgroundNoise?: boolean;

  @EnumField(GENDERS, { ...personalityFields.gender, optional: true, default: 'FEMALE' })
  gender?: Gender;

  @EnumField(PERSONALITY_PROVIDERS, {
    ...personalityFields.provider,
    optional: true,
    default: 'PERSONALITY_PROVIDER_1',
  })
  provider?: PersonalityProvider;

  @StringField({
    description: 'Workspace that it belongs to: that of the API key, null or absent',
    maxLength: MAX_LENGTH.identifier,
    nullable: true,
    optional: true,
  })
  workspaceId?: string | null;

  @StringField({ ...personalityFields.voice_id, optional: true, default: '' })
  voice_id?: string;

  @EnumField(INTERRUPTS, { ...personalityFields.interrupts, optional: true, default: 'never' })
  interrupts?: Interrupts;
}

/** A partial update; the workspace cannot be changed. */
export class UpdatePersonalityRequest extends PartialType(
  OmitType(CreatePersonalityRequest, ['workspaceId'] as const),
  {
    skipNullProperties: false,
  },
) {}
