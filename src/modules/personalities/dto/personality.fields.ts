import { MAX_LENGTH } from '../../../platform/http/dto/fields.js';

/** Meaning and limits of each field of a personality, shared by requests and responses. */
export const personalityFields = {
  name: { description: 'Display name', example: 'Impatient regular', minLength: 1, maxLength: MAX_LENGTH.name },
  description: {
    description: 'What kind of caller this is',
    example: 'Calls on the way home',
    maxLength: MAX_LENGTH.text,
  },
  prompt: {
    description: 'How the caller behaves',
    example: 'You are in a hurry and interrupt.',
    maxLength: MAX_LENGTH.text,
  },
  temperature: {
    description: "Sampling temperature of the caller's language model",
    example: 0.7,
    minimum: 0,
    maximum: 2,
  },
  accent: { description: "The caller's accent", example: 'Scottish', maxLength: MAX_LENGTH.identifier },
  backgroundNoise: { description: 'Whether the caller is in a noisy place', example: false },
  gender: { description: "Gender of the caller's voice", example: 'FEMALE' },
  provider: { description: 'Voice provider', example: 'PERSONALITY_PROVIDER_1' },
  voice_id: {
    description: 'Identifier of the voice at the voice provider',
    example: 'voice-1',
    maxLength: MAX_LENGTH.identifier,
  },
} as const;
