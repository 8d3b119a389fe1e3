import type { CheckInput, EvaluationInput, ScriptStep } from '../../../../libs/evaluation-definition/index.js';

const check = <T extends CheckInput>(name: string, rest: T): T & { readonly name: string } => ({ ...rest, name });

const CHECKS = {
  latency: check('Starts every answer within 1.5 seconds', { type: 'max_latency_ms', ms: 1_500 }),
  protocol: check('Keeps to the protocol', { type: 'clean_protocol' }),
  level: check('Speaks at the level of a telephone', {
    type: 'audio_level',
    minDbfs: -38,
    maxDbfs: -12,
    maxClippedPercent: 0.5,
  }),
  choppiness: check('Speaks without gaps', { type: 'max_choppiness', perMinute: 3 }),
  interruptions: check('Never interrupts the caller', { type: 'max_interruptions', count: 0 }),
  overlap: check('Hardly ever speaks at the same time', { type: 'max_overlap_ms', ms: 300 }),
  hangsUp: check('Hangs up after the goodbye', { type: 'ends_by', by: 'agent' }),
} as const;

const BYE: readonly ScriptStep[] = [
  { say: 'Thank you, goodbye.' },
  { waitSeconds: 5 },
  { end: 'The agent does not hang up' },
];
const BOOKING: readonly ScriptStep[] = [
  { say: "Hello, I'd like to book a table, please." },
  { say: 'For four people, please.' },
  { say: 'On Friday, please.' },
  { say: 'At half past seven in the evening.' },
  { say: 'The name is Rossi.' },
  { say: 'My number is 555 0142.' },
  { say: 'Yes, please.' },
  { say: 'No, thank you. Goodbye.' },
  { waitSeconds: 5 },
  { end: 'The agent does not hang up' },
];
/** Whether the caller had more than this number of turns: the agent has not hung up before. */
const staysBeyond = (turns: number) =>
  check('Stays on the line', { type: 'not' as const, check: { type: 'max_turns' as const, turns } });

const THREE_QUESTIONS = 'When are you open, where are you, and can I park there?';

type VoiceEvaluation = Omit<EvaluationInput, 'personalityId' | 'key'>;

const EVALUATIONS = {
  'phone-booking': {
    name: 'Books a table on the telephone',
    scenarioText:
      'You want a table for four people on Friday at half past seven in the evening, under the name Rossi. Your phone number is 555 0142.',
    critical: true,
    tags: ['telephone', 'booking'],
    maxTurns: 16,
    script: BOOKING,
    checks: [
      CHECKS.latency,
      CHECKS.protocol,
      CHECKS.level,
      CHECKS.choppiness,
      CHECKS.interruptions,
      CHECKS.overlap,
      CHECKS.hangsUp,
      staysBeyond(7),
      check('Takes at most 90 seconds', { type: 'max_duration_ms', ms: 90_000 }),
    ],
  },
  'phone-barge-in': {
    name: 'Stops speaking when the caller takes the turn',
    scenarioText: 'You ask three questions at once and interrupt the long answer to ask for vegan dishes.',
    tags: ['telephone', 'turn-taking'],
    maxTurns: 8,
    script: [
      { say: THREE_QUESTIONS },
      { say: "Thank you, that's enough. Do you have vegan dishes?", bargeIn: { afterMs: 1_500 } },
      ...BYE,
    ],
    checks: [
      check('Stops within a second', { type: 'yields_within_ms', ms: 1_000 }),
      CHECKS.interruptions,
      CHECKS.protocol,
      staysBeyond(2),
      CHECKS.hangsUp,
    ],
  },
  'phone-listening': {
    name: 'Keeps speaking while the caller listens',
    scenarioText: 'You ask three questions at once and listen to the answer. You have a cough, and a door slams.',
    tags: ['telephone', 'turn-taking'],
    maxTurns: 8,
    // One turn of the agent, even if it is silent inside.
    turnEndMs: 3_000,
    script: [
      { say: THREE_QUESTIONS },
      { backchannel: 'mm-hmm', afterMs: 1_200 },
      { noise: 'cough', afterMs: 2_600 },
      { backchannel: 'uh-huh', afterMs: 6_500 },
      { noise: 'door', afterMs: 8_500 },
      { noise: 'cough' },
      ...BYE,
    ],
    checks: [
      check('Keeps speaking', { type: 'keeps_speaking' }),
      CHECKS.interruptions,
      CHECKS.protocol,
      CHECKS.hangsUp,
    ],
  },
  'phone-hesitation': {
    name: 'Waits while the caller hesitates',
    scenarioText:
      'You want a table for four people on Friday at half past seven, under the name Rossi. You have to look up the day and your phone number, 555 0142.',
    tags: ['telephone', 'turn-taking'],
    maxTurns: 12,
    script: [
      { say: ['Hello, a table for four people on', { pauseMs: 1_200 }, 'Friday at half past seven, please.'] },
      { say: 'The name is Rossi.' },
      { say: ['My number is', { pauseMs: 1_200 }, '555 0142.'] },
      { say: 'Yes, please.' },
      { say: 'No, thank you. Goodbye.' },
      { waitSeconds: 5 },
      { end: 'The agent does not hang up' },
    ],
    checks: [CHECKS.interruptions, CHECKS.overlap, CHECKS.protocol, staysBeyond(4), CHECKS.hangsUp],
  },
  'phone-pauses': {
    name: 'Speaks without long pauses',
    scenarioText: 'You ask three questions at once and wait until the agent has said everything.',
    tags: ['telephone', 'latency'],
    maxTurns: 8,
    turnEndMs: 3_000,
    script: [{ say: THREE_QUESTIONS }, ...BYE],
    checks: [
      check('Pauses for less than 1.5 seconds', { type: 'max_pause_ms', ms: 1_500 }),
      check('Is silent for less than 2 seconds', { type: 'max_silence_ms', ms: 2_000 }),
      CHECKS.interruptions,
      CHECKS.protocol,
      CHECKS.hangsUp,
    ],
  },
  'phone-keys': {
    name: 'Hears keys',
    scenarioText: 'You press 1 for the opening hours, and then 0 for a colleague.',
    tags: ['telephone', 'keys'],
    maxTurns: 6,
    script: [
      { say: 'Hello.' },
      { press: '1' },
      { waitSeconds: 12 },
      { press: '0' },
      { waitSeconds: 12 },
      { end: 'The agent does not put the caller through' },
    ],
    checks: [
      check('Says the opening hours', { type: 'hears_keys', keys: '1' }),
      check('Puts the caller through', { type: 'hears_keys', keys: '0' }),
      check('Waits for the second key', { type: 'not', check: { type: 'max_duration_ms', ms: 15_000 } }),
      check('Ends its part of the call', { type: 'ends_by', by: 'agent' }),
      CHECKS.protocol,
    ],
  },
  'phone-noise': {
    name: 'Books a table on a noisy line',
    scenarioText:
      'You want a table for four people on Friday at half past seven in the evening, under the name Rossi. Your phone number is 555 0142. It is loud where you are.',
    tags: ['telephone', 'noise'],
    maxTurns: 16,
    conditions: { noise: { type: 'white', snrDb: 20 }, band: 'telephone', seed: 7 },
    script: BOOKING,
    checks: [
      CHECKS.latency,
      CHECKS.protocol,
      CHECKS.interruptions,
      CHECKS.hangsUp,
      staysBeyond(7),
      check('Takes at most 90 seconds', { type: 'max_duration_ms', ms: 90_000 }),
    ],
  },
} as const satisfies Readonly<Record<string, VoiceEvaluation>>;

export type VoiceEvaluationKey = keyof typeof EVALUATIONS;
export const VOICE_EVALUATION_KEYS = Object.keys(EVALUATIONS) as readonly VoiceEvaluationKey[];

/** Names of an evaluation's checks. */
export type VoiceCheckName<K extends VoiceEvaluationKey = VoiceEvaluationKey> =
  (typeof EVALUATIONS)[K]['checks'][number]['name'];

/**
 * Evaluations for voice calls. Their callers go by turns and know no words of the agent, so that they need no
 * transcription. The healthy agent passes all of them, and every fault of the telephone fails at least one.
 */
export function voiceEvaluations(personalityId: string): EvaluationInput[] {
  return VOICE_EVALUATION_KEYS.map((key) => ({ key, personalityId, ...EVALUATIONS[key] }));
}
