import { MIN_TURNS_FOR_PERCENTILES } from '../../statistics/index.js';
import type { MaxLatencySpec, MaxTimeSpec, PartialDefinition } from '../definition/definition.js';
import { DEFAULTS } from '../definition/limits.js';
import { mostTurns } from '../definition/script.js';
import { neverExceeded, PLAIN } from './common.js';
import type { CheckKind, Found, Kinds } from './kind.js';
import { check, milliseconds, turnNumber } from './parts-schema.js';

const TIME = {
  ...PLAIN,
  needs: () => [],
  violations: ({ ms }, definition) => neverExceeded(ms, definition),
  ofAgentAlone: true,
  keepsDetail: true,
  notInRecording: null,
} satisfies Partial<CheckKind<MaxTimeSpec>>;

const atMost = (title: string, description: string, minimum = 1) =>
  check(title, description, { ms: milliseconds('Milliseconds', minimum) }, ['ms']);

export const TIMES = {
  max_duration_ms: {
    ...TIME,
    schema: atMost(
      'Maximum duration',
      'The call lasts at most this long; on a voice call without the time in which the caller thinks.',
    ),
    describe: ({ ms }) => `lasts at most ${ms} ms`,
  },
  max_latency_ms: {
    ...TIME,
    schema: check(
      'Maximum latency',
      "The agent's responses begin within this time after the caller's turn.",
      {
        ms: milliseconds('Milliseconds'),
        percentile: {
          type: 'integer',
          description: 'Percentage of the responses that must be within the limit; 100 means all',
          enum: [50, 90, 95, 99, 100],
          default: DEFAULTS.percentile,
        },
        turn: turnNumber,
      },
      ['ms'],
    ),
    describe: ({ ms, percentile, turn }) =>
      turn === undefined
        ? `${percentile === 100 ? 'every answer starts' : `${percentile} % of the answers start`} within ${ms} ms`
        : `the answer in turn ${turn} starts within ${ms} ms`,
    violations: ({ ms, percentile }, definition) => [
      ...neverExceeded(ms, definition),
      ...percentileViolations(percentile, definition),
    ],
  },
  max_silence_ms: {
    ...TIME,
    schema: atMost('Maximum silence', 'No silence during the call is longer than this.'),
    describe: ({ ms }) => `no silence longer than ${ms} ms`,
  },
  max_time_to_first_word_ms: {
    ...TIME,
    schema: atMost(
      'Maximum time to the first word',
      'The agent says its first word within this time of the start of the call.',
    ),
    describe: ({ ms }) => `the agent says its first word within ${ms} ms`,
  },
  max_pause_ms: {
    ...TIME,
    schema: atMost(
      'Maximum pause',
      'No pause inside an answer of the agent is longer than this. Pauses below 500 ms are not recorded.',
      500,
    ),
    describe: ({ ms }) => `no pause inside an answer longer than ${ms} ms`,
  },
} satisfies Pick<Kinds, (MaxTimeSpec | MaxLatencySpec)['type']>;

function percentileViolations(percentile: number, { script, maxTurns }: PartialDefinition): Found[] {
  if (percentile < 90 || percentile === 100) return [];
  const found = (what: string): Found[] => [
    [['percentile'], `${percentile} requires at least ${MIN_TURNS_FOR_PERCENTILES} turns, but ${what}`],
  ];
  const isTooFew = (turns: number | undefined) => turns !== undefined && turns < MIN_TURNS_FOR_PERCENTILES;
  if (isTooFew(maxTurns)) return found(`maxTurns is ${maxTurns}`);
  const scripted = mostTurns(script);
  return isTooFew(scripted) ? found(`script has ${scripted}`) : [];
}
