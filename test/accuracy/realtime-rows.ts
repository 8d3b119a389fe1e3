import { readFileSync } from 'node:fs';
import type { EvaluationInput } from '../../libs/evaluation-definition/index.js';
import {
  CALLER_VOICES,
  guideEvaluation,
  isGuideFaultFound,
  type PreparedVoice,
  scriptedAgent,
  spokenGuideAgent,
  spokenGuideFaults,
  type Turn,
  type VoiceCalls,
} from '../simulators/agent/testing/voice.js';
import type { CallResult } from '../../libs/simulation/index.js';
import type { Group, Row } from './matrix/row.js';
import { SPOKEN_FAULTS, type SpokenFault, type SpokenTurn } from './matrix/spoken-faults.js';
import { WITH_GAP } from './matrix/tester-faults.js';

/** A row of the matrix of text calls, as a voice call over OpenAI Realtime. */
export interface VoiceRow {
  readonly group: Group;
  readonly name: string;
  /** Of the check that finds the fault. */
  readonly check?: string;
  readonly right: 'passed' | 'failed' | 'invalid';
  readonly isFound: (result: CallResult) => boolean;
  readonly evaluation: (seed: number) => EvaluationInput;
  readonly agent: (calls: Pick<VoiceCalls, 'synthesiser'>) => Promise<PreparedVoice>;
  readonly firstSpeaker?: 'caller';
}

const GUIDE = readFileSync(new URL('../../docs/guides/checks.md', import.meta.url), 'utf8');
/** Silence after which the agent takes the caller's turn for ended: its answers and their limits are that much later. */
const TURN_END_MS = 700;

const always = () => true;
const WHAT = { key: 'matrix', personalityId: 'any', name: 'Matrix', scenarioText: 'You have a question.' };

/** The voice of the caller. */
export const voiceOfSeed = (seed: number): string => CALLER_VOICES[(seed - 1) % CALLER_VOICES.length]!;

/** Every row of the text matrix that is about words or tool calls. */
export const VOICE_ROWS: readonly VoiceRow[] = [
  ...Object.entries(SPOKEN_FAULTS).flatMap(([name, fault]) => spokenRows(name, fault)),
  ...spokenGuideFaults(GUIDE).map(({ type, name }): VoiceRow => ({
    ...{
      group: 'check',
      name: type,
      check: name,
      right: 'failed',
      isFound: (result) => isGuideFaultFound(name, result),
    },
    evaluation: (seed) => guideEvaluation(GUIDE, seed),
    agent: ({ synthesiser }) => spokenGuideAgent(synthesiser, name),
  })),
  {
    ...{ group: 'healthy', name: 'guide', right: 'passed', isFound: always },
    evaluation: (seed) => guideEvaluation(GUIDE, seed),
    agent: ({ synthesiser }) => spokenGuideAgent(synthesiser),
  },
  {
    ...{ group: 'other', name: 'script-gap', right: 'invalid', firstSpeaker: 'caller' },
    isFound: ({ reason }) => reason.includes('no answer to "'),
    evaluation: (seed) => ({ ...WHAT, ...WITH_GAP, conditions: { seed } }),
    agent: ({ synthesiser }) => {
      const answers: Turn[] = new Array<Turn>(10).fill([{ say: 'For how many people?' }]);
      return scriptedAgent(synthesiser, { answers });
    },
  },
];

function spokenRows(name: string, { definition, faulty, healthy, reason }: SpokenFault): VoiceRow[] {
  const rowOf = (turns: readonly SpokenTurn[]) => ({
    firstSpeaker: 'caller' as const,
    evaluation: (seed: number) => ({ ...WHAT, ...laterLimits(definition), conditions: { seed } }),
    agent: ({ synthesiser }: Pick<VoiceCalls, 'synthesiser'>) => scriptedAgent(synthesiser, { answers: turns }),
  });
  return [
    {
      ...{ group: 'spoken', name, right: 'failed', isFound: (result: CallResult) => reason.test(result.reason) },
      ...rowOf(faulty),
    },
    { ...{ group: 'healthy', name: `not ${name}`, right: 'passed', isFound: always }, ...rowOf(healthy) },
  ];
}

const laterLimits = (definition: SpokenFault['definition']): SpokenFault['definition'] => ({
  ...definition,
  checks: (definition.checks ?? []).map((check) =>
    check.type === 'max_latency_ms' ? { ...check, ms: check.ms + TURN_END_MS } : check,
  ),
});

/** Why a row of the text matrix has no voice call; undefined if it has one. */
export function reasonAgainstVoice({ group, name }: Row): string | undefined {
  if (VOICE_ROWS.some((row) => row.group === group && row.name === name) || group === 'model') return undefined;
  if (name === 'stalled-tester') return 'measured for voice calls by `npx jest test/simulators/agent/voice/replay`';
  if (group === 'wire') return 'a breach of HTTP or of the format of chat completions';
  if (group === 'healthy') return 'a way to send the bodies of HTTP responses';
  if (group === 'other') return 'an answer of an HTTP server, or a connection to one';
  throw new Error(`The row "${name}" has neither a voice call nor a reason against one`);
}
