import {
  type Gender,
  GENDERS,
  type Interrupts,
  INTERRUPTS,
  PERSONALITY_PROVIDERS,
  type PersonalityProvider,
} from '../../../../libs/evaluation-definition/index.js';
import {
  BooleanField,
  EnumField,
  IdField,
  NumberField,
  StringField,
  TimestampField,
} from '../../../platform/http/dto/fields.js';
import { personalityFields } from './personality.fields.js';

/** A simulated caller in responses. */
export class Personality {
  @EnumField(GENDERS, personalityFields.gender)
  gender: Gender;

  @EnumField(PERSONALITY_PROVIDERS, personalityFields.provider)
  provider: PersonalityProvider;

  @IdField({ kind: 'personality', description: 'Identifier' })
  id: string;

  @TimestampField({ description: 'When it was created' })
  createdAt: string;

  @TimestampField({ description: 'When it was last changed' })
  updatedAt: string;

  @TimestampField({ description: 'When it was created; the same as `createdAt`' })
  created_at: string;

  @StringField(personalityFields.name)
  name: string;

  @StringField(personalityFields.description)
  description: string;

  @StringField(personalityFields.prompt)
  prompt: string;

  @NumberField(personalityFields.temperature)
  temperature: number;

  @StringField(personalityFields.accent)
  accent: string;

  @BooleanField(personalityFields.backgroundNoise)
  backgroundNoise: boolean;

  @IdField({ kind: 'user', description: 'User that created it' })
  createdByUserId: string;

  @IdField({ kind: 'workspace', description: 'Workspace that it belongs to' })
  workspaceId: string;

  @StringField(personalityFields.voice_id)
  voice_id: string;

  @EnumField(INTERRUPTS, {
    ...personalityFields.interrupts,
    description: `${personalityFields.interrupts.description}; missing if it is \`never\``,
    optional: true,
  })
  interrupts?: Interrupts;
}
