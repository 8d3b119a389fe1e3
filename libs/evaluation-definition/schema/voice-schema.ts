import { LIMITS } from '../definition/limits.js';
import type { JsonSchema } from '../definition/json-schema.js';
import { LINE_NOISES } from '../definition/voice.js';

const number = (description: string, { min, max }: { min: number; max: number }, example: number): JsonSchema => ({
  type: 'number',
  description,
  minimum: min,
  maximum: max,
  examples: [example],
});

/** The schema of `conditions`. */
export const lineConditionsSchema: JsonSchema = {
  title: 'Conditions of the line',
  description: 'What the line between caller and agent does to the audio. Everything that is absent is left as it is.',
  type: 'object',
  properties: {
    noise: {
      type: 'object',
      description: "Noise on the caller's side, throughout the call",
      properties: {
        type: {
          type: 'string',
          description: 'Kind of noise; `babble` consists of overlaid synthetic voices',
          enum: LINE_NOISES,
        },
        snrDb: number("Ratio of the caller's active speech to the noise in decibels", LIMITS.snrDb, 20),
      },
      required: ['type', 'snrDb'],
      additionalProperties: false,
    },
    gainDb: number("Change of the caller's level in decibels; by default its speech is at -26 dBFS", LIMITS.gainDb, -6),
    echoDb: number(
      "Level of the agent's own voice that comes back to it, in decibels relative to what was played",
      LIMITS.echoDb,
      -30,
    ),
    packetLossPercent: number(
      "Share of the caller's packets of 20 ms that are lost, in percent",
      { min: 0, max: LIMITS.packetLossPercent },
      2,
    ),
    jitterMs: number(
      "Maximum delay of the caller's packets in milliseconds, different for each packet",
      { min: 0, max: LIMITS.jitterMs },
      30,
    ),
    band: {
      type: 'string',
      description: '`telephone` lets 300 to 3,400 Hz of the caller pass, `wide` everything; `wide` if absent',
      enum: ['telephone', 'wide'],
    },
    seed: {
      type: 'integer',
      description: 'The same seed gives the same noise, loss and jitter in every call',
      minimum: 0,
      maximum: LIMITS.seed,
      examples: [1],
    },
  },
  additionalProperties: false,
};
