import type {
  KeepsSpeakingSpec,
  MaxInterruptionsSpec,
  MaxOverlapSpec,
  PartialDefinition,
  YieldsSpec,
} from '../definition/definition.js';
import { LIMITS } from '../definition/limits.js';
import { neverExceeded, PLAIN } from './common.js';
import type { CheckKind, Found, Kinds } from './kind.js';
import { check, milliseconds } from './parts-schema.js';

type Spec = YieldsSpec | KeepsSpeakingSpec | MaxInterruptionsSpec | MaxOverlapSpec;

/** Who speaks when both could. */
const OF_FLOOR = {
  ...PLAIN,
  needs: () => ['voice'],
  ofAgentAlone: true,
  keepsDetail: true,
  notInRecording: null,
} satisfies Partial<CheckKind<Spec>>;

export const FLOOR = {
  yields_within_ms: {
    ...OF_FLOOR,
    schema: check(
      'Yields to a barge-in',
      'When the caller barges in (`bargeIn`), the agent is silent within this time. Undecided if no barge-in was possible.',
      {
        ms: {
          type: 'integer',
          description: "Milliseconds from the onset of the caller's line to the end of the agent's sound",
          minimum: 1,
          maximum: LIMITS.yieldMs,
          examples: [1000],
        },
      },
      ['ms'],
    ),
    describe: ({ ms }) => `the agent stops speaking within ${ms} ms when the caller barges in`,
    violations: (_, { script }) =>
      occasion(script, (step) => 'say' in step && step.bargeIn !== undefined, 'a step with say and bargeIn'),
  },
  keeps_speaking: {
    ...OF_FLOOR,
    schema: check(
      'Keeps speaking',
      'The agent keeps its turn through every `backchannel` and `noise` of the script, and does not answer a noise in silence. Undecided if none of them was possible.',
      {},
      [],
    ),
    describe: () => 'the agent keeps its turn through every backchannel and noise of the caller',
    violations: (_, { script }) =>
      occasion(script, (step) => 'backchannel' in step || 'noise' in step, 'a step with backchannel or noise'),
  },
  max_interruptions: {
    ...OF_FLOOR,
    schema: check(
      'Maximum number of interruptions',
      'The agent begins to speak while the caller speaks or hesitates at most this often. Overlaps below 300 ms do not count.',
      {
        count: {
          type: 'integer',
          description: 'Maximum number of interruptions',
          minimum: 0,
          maximum: LIMITS.interruptions,
          examples: [0],
        },
      },
      ['count'],
    ),
    describe: ({ count }) =>
      count === 0
        ? 'the agent never interrupts the caller'
        : `the agent interrupts the caller at most ${count} ${count === 1 ? 'time' : 'times'}`,
    isProhibition: () => true,
  },
  max_overlap_ms: {
    ...OF_FLOOR,
    schema: check(
      'Maximum overlap',
      "The agent's interruptions overlap the caller's speech for at most this long in the whole call. Barge-ins of the caller do not count.",
      { ms: milliseconds('Milliseconds', 0) },
      ['ms'],
    ),
    describe: ({ ms }) => `the agent speaks over the caller for at most ${ms} ms`,
    violations: ({ ms }, definition) => neverExceeded(ms, definition),
    isProhibition: () => true,
  },
} satisfies Pick<Kinds, Spec['type']>;

type Steps = PartialDefinition['script'];

/** @param gives whether a step gives the check something to decide */
function occasion(script: Steps, gives: (step: NonNullable<Steps[number]>) => boolean, what: string): Found[] {
  // The steps of a template are unknown until its values are inserted.
  if (script.some((step) => !step || gives(step))) return [];
  return [[[], `requires ${what} in script, or it could never be decided`]];
}
