import { LIMITS } from '../definition/limits.js';
import type { JsonSchema } from '../definition/json-schema.js';

export const GENDERS = ['MALE', 'FEMALE'] as const;
export type Gender = (typeof GENDERS)[number];

export const PERSONALITY_PROVIDERS = [
  'PERSONALITY_PROVIDER_1',
  'PERSONALITY_PROVIDER_2',
  'PERSONALITY_PROVIDER_3',
  'PERSONALITY_PROVIDER_4',
] as const;
export type PersonalityProvider = (typeof PERSONALITY_PROVIDERS)[number];

/** Whether a caller without a script interrupts the agent on voice calls. */
export const INTERRUPTS = ['never', 'sometimes'] as const;
export type Interrupts = (typeof INTERRUPTS)[number];

/** The editable fields of a personality. */
export interface AuthoredPersonality {
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
  readonly temperature: number;
  readonly accent: string;
  readonly backgroundNoise: boolean;
  readonly gender: Gender;
  readonly provider: PersonalityProvider;
  readonly voice_id: string;
  readonly interrupts: Interrupts;
}

/** A personality in a file: fields with defaults are optional. */
export type PersonalityInput = Pick<AuthoredPersonality, 'name'> & Partial<AuthoredPersonality>;

/** All editable fields of a personality, in display order; requests, responses and files share them. */
export const personalityFields = {
  name: {
    type: 'string',
    description: 'Display name',
    minLength: 1,
    maxLength: LIMITS.name,
    examples: ['Impatient regular'],
  },
  description: {
    type: 'string',
    description: 'What kind of caller this is',
    maxLength: LIMITS.scenarioText,
    default: '',
    examples: ['Calls on the way home'],
  },
  prompt: {
    type: 'string',
    description: 'How the caller behaves',
    maxLength: LIMITS.scenarioText,
    default: '',
    examples: ['You are in a hurry and interrupt.'],
  },
  temperature: {
    type: 'number',
    description: "Sampling temperature of the caller's language model",
    minimum: 0,
    maximum: 2,
    default: 0.7,
    examples: [0.7],
  },
  accent: {
    type: 'string',
    description:
      'Accent of the caller on voice calls; of the embedded voices, `MALE` and Scottish has a voice of its own. ' +
      'No effect on the voices of a speech server',
    maxLength: LIMITS.identifier,
    default: '',
    examples: ['Scottish'],
  },
  backgroundNoise: {
    type: 'boolean',
    description: 'Whether other people talk around the caller on voice calls, 15 dB below its speech',
    default: false,
    examples: [false],
  },
  gender: {
    type: 'string',
    description: "Gender of the caller's voice on voice calls",
    enum: GENDERS,
    default: 'FEMALE',
    examples: ['MALE'],
  },
  provider: {
    type: 'string',
    description: 'Provider of the voice: decides which speech server speaks, if one is set for it',
    enum: PERSONALITY_PROVIDERS,
    default: 'PERSONALITY_PROVIDER_1',
    examples: ['PERSONALITY_PROVIDER_1'],
  },
  voice_id: {
    type: 'string',
    description:
      'Voice of the caller on voice calls: `slt`, `rms`, `awb`, `kal` or `kal16`, or the name of a voice on the ' +
      'speech server. Otherwise `gender` and `accent` choose',
    maxLength: LIMITS.identifier,
    default: '',
    examples: ['awb'],
  },
  interrupts: {
    type: 'string',
    description:
      'Whether a caller without a script interrupts long answers of the agent on voice calls: `sometimes` every few answers',
    enum: INTERRUPTS,
    default: 'never',
    examples: ['sometimes'],
  },
} as const satisfies Readonly<Record<keyof AuthoredPersonality, JsonSchema>>;

/** The schema of a personality in a file. */
export const personalitySchema = {
  title: 'Personality',
  description: 'A simulated caller: how it speaks and behaves. Import matches personalities by `name`.',
  type: 'object',
  properties: personalityFields,
  required: ['name'],
  additionalProperties: false,
} as const;

/** Fills in the defaults of a valid personality, in display order. */
export const authoredPersonality = (input: PersonalityInput): AuthoredPersonality => ({
  name: input.name,
  description: input.description ?? personalityFields.description.default,
  prompt: input.prompt ?? personalityFields.prompt.default,
  temperature: input.temperature ?? personalityFields.temperature.default,
  accent: input.accent ?? personalityFields.accent.default,
  backgroundNoise: input.backgroundNoise ?? personalityFields.backgroundNoise.default,
  gender: input.gender ?? personalityFields.gender.default,
  provider: input.provider ?? personalityFields.provider.default,
  voice_id: input.voice_id ?? personalityFields.voice_id.default,
  interrupts: input.interrupts ?? personalityFields.interrupts.default,
});

/** An example of a personality in a file; its name is not that of the example in requests, which are sent repeatedly. */
export const examplePersonality = {
  name: 'Hurried guest',
  description: 'Books a table on the way home',
  prompt: 'You are in a hurry. You answer in short sentences.',
} as const satisfies PersonalityInput;
