import { personalityFields as schemas } from '../../../../libs/evaluation-definition/index.js';

/** Keywords that the decorators set themselves. */
const OWN = ['type', 'enum', 'default', 'examples'] as const;

/** The options of a field decorator, from the JSON Schema that validates files. */
function optionsOf<S extends { readonly examples: readonly [unknown]; readonly description: string }>(schema: S) {
  const rest = Object.entries(schema).filter(([keyword]) => !(OWN as readonly string[]).includes(keyword));
  const [example] = schema.examples;
  return { ...Object.fromEntries(rest), example } as Omit<S, (typeof OWN)[number]> & { example: S['examples'][0] };
}

/** Meaning and limits of each field of a personality, shared by requests and responses. */
export const personalityFields = {
  name: optionsOf(schemas.name),
  description: optionsOf(schemas.description),
  prompt: optionsOf(schemas.prompt),
  temperature: optionsOf(schemas.temperature),
  accent: optionsOf(schemas.accent),
  backgroundNoise: optionsOf(schemas.backgroundNoise),
  gender: optionsOf(schemas.gender),
  provider: optionsOf(schemas.provider),
  voice_id: optionsOf(schemas.voice_id),
  interrupts: optionsOf(schemas.interrupts),
};
