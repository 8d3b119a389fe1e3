import type {
  AudioLevelSpec,
  CleanProtocolSpec,
  MaxChoppinessSpec,
  SpeakingRateSpec,
} from '../definition/definition.js';
import { requiredEach } from '../definition/json-schema.js';
import { LIMITS } from '../definition/limits.js';
import { PLAIN, rangeText, reversed } from './common.js';
import type { CheckKind, Kinds } from './kind.js';
import { check } from './parts-schema.js';

type Spec = SpeakingRateSpec | AudioLevelSpec | MaxChoppinessSpec | CleanProtocolSpec;

const wordsPerMinute = (description: string) => ({ type: 'number', description, minimum: 1, maximum: 1_000 });
const dbfs = (description: string) => ({ type: 'number', description, minimum: -100, maximum: 0 });

/** What the agent's voice and connection are like. */
const OF_SOUND = {
  ...PLAIN,
  needs: () => ['voice'],
  ofAgentAlone: true,
} satisfies Partial<CheckKind<Spec>>;

export const SOUND = {
  speaking_rate: {
    ...OF_SOUND,
    schema: check(
      'Speaking rate',
      "The agent's words per minute of its speech are within these limits.",
      { minWpm: wordsPerMinute('Minimum words per minute'), maxWpm: wordsPerMinute('Maximum words per minute') },
      [],
      { anyOf: requiredEach('minWpm', 'maxWpm') },
    ),
    needs: () => ['voice', 'words'],
    describe: ({ minWpm, maxWpm }) => `the agent speaks ${rangeText(minWpm, maxWpm)} words per minute`,
    violations: ({ minWpm, maxWpm }) => reversed(['minWpm', minWpm], ['maxWpm', maxWpm]),
    keepsDetail: true,
    notInRecording: null,
  },
  audio_level: {
    ...OF_SOUND,
    schema: check(
      'Level',
      "The level of the agent's active speech is within these limits, and at most this share of its audio is clipped. Not met if the agent sent audio that cannot be heard.",
      {
        minDbfs: dbfs('Minimum level in dBFS; telephone speech is usually at about -26'),
        maxDbfs: dbfs('Maximum level in dBFS'),
        maxClippedPercent: {
          type: 'number',
          description: 'Maximum share of the samples that lie in runs at full scale, in percent',
          minimum: 0,
          maximum: 100,
        },
      },
      [],
      { anyOf: requiredEach('minDbfs', 'maxDbfs', 'maxClippedPercent') },
    ),
    describe: levelText,
    violations: ({ minDbfs, maxDbfs }) => reversed(['minDbfs', minDbfs], ['maxDbfs', maxDbfs]),
    keepsDetail: true,
    notInRecording: null,
  },
  max_choppiness: {
    ...OF_SOUND,
    schema: check(
      'Maximum choppiness',
      "The agent's speech has at most this many gaps per minute, because its audio came too late. Fewer than three gaps in a call never fail.",
      {
        perMinute: {
          type: 'number',
          description: 'Maximum number of gaps per minute of agent speech',
          minimum: 0,
          maximum: LIMITS.gapsPerMinute,
          examples: [2],
        },
      },
      ['perMinute'],
    ),
    describe: ({ perMinute }) => `the agent's speech has at most ${perMinute} gaps per minute`,
    isProhibition: () => true,
    keepsDetail: true,
    notInRecording: 'where the playout ran empty',
  },
  clean_protocol: {
    ...OF_SOUND,
    schema: check(
      'Clean protocol',
      'The agent does not deviate from the protocol of its platform in a way that the caller hears or the platform ignores: there is no wire finding of severity `error`.',
      {},
      [],
    ),
    describe: () => 'the agent keeps to the protocol of its platform',
    isProhibition: () => true,
    notInRecording: 'the messages of a protocol',
  },
} satisfies Pick<Kinds, Spec['type']>;

function levelText({ minDbfs, maxDbfs, maxClippedPercent }: AudioLevelSpec): string {
  const hasLevel = minDbfs !== undefined || maxDbfs !== undefined;
  return [
    ...(hasLevel ? [`the agent's speech has a level of ${rangeText(minDbfs, maxDbfs)} dBFS`] : []),
    ...(maxClippedPercent === undefined ? [] : [`at most ${maxClippedPercent} % of the agent's audio is clipped`]),
  ].join(' and ');
}
