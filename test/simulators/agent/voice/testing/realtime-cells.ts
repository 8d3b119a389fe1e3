import type { EvaluationInput, ScriptStep } from '../../../../../libs/evaluation-definition/index.js';
import type { CallResult } from '../../../../../libs/simulation/index.js';
import { sampleOfAgent } from '../../../../../libs/statistics/testing/sample.js';
import { EVALUATION_KEYS, type EvaluationKey, referenceEvaluations } from '../../evaluations.js';
import { expectationOf } from '../../expected.js';
import { VOICE_EVALUATION_KEYS, type VoiceEvaluationKey } from '../evaluations.js';
import {
  ELEVENLABS_FAULT_NAMES,
  type ElevenLabsFaultName,
  isElevenLabsFault,
} from '../../../elevenlabs/elevenlabs-faults.js';
import {
  elevenlabsExpectationOf,
  isExpected,
  pipecatExpectationOf,
  type RealtimeExpectation,
  realtimeExpectationOf,
  vapiExpectationOf,
} from '../expected.js';
import { CALLER_VOICES } from '../prepare.js';
import {
  REALTIME_FAULT_NAMES,
  isRealtimeFault,
  type RealtimeFaultName,
  SHARED_FAULT_NAMES,
} from '../../../openai-realtime/realtime-faults.js';
import { isVapiFault, VAPI_FAULT_NAMES, type VapiFaultName } from '../../../vapi/vapi-faults.js';
import { isPipecatFault, PIPECAT_FAULT_NAMES, type PipecatFaultName } from '../../../pipecat/pipecat-faults.js';
import { WORD_FAULT_NAMES, type WordFaultName } from '../word-faults.js';
import { evaluationOf as voiceEvaluationOf, LINES, type LineName } from './voice-cells.js';
import type { RealtimeCallOptions, VoiceCalls } from './voice-call.js';

/** Platforms that report the agent's words. */
export type WordPlatform = 'openai-realtime' | 'elevenlabs' | 'vapi' | 'pipecat';

/** A call of the text evaluations, for what the agent says and does. */
interface WordCell {
  readonly platform: WordPlatform;
  readonly about: 'words';
  readonly fault: WordFaultName | undefined;
  readonly key: EvaluationKey;
  readonly line: LineName;
  /** Counts from 1; varies the voice of the caller. */
  readonly seed: number;
}

/** A call of the evaluations for the telephone. */
interface SoundCell {
  readonly platform: WordPlatform;
  readonly about: 'voice';
  readonly fault: RealtimeFaultName | ElevenLabsFaultName | VapiFaultName | PipecatFaultName | undefined;
  readonly key: VoiceEvaluationKey;
  readonly line: LineName;
  /** Counts from 1; varies the noise and the voice of the caller. */
  readonly seed: number;
}

/** One call of the accuracy measurement over a platform that reports words. */
export type RealtimeCell = WordCell | SoundCell;

export type RealtimeCellResult = RealtimeCell & {
  readonly expected: RealtimeExpectation;
  readonly isRight: boolean;
  /** What happened, for people. */
  readonly found: string;
  readonly outcome: CallResult['outcome'];
};

/** Keys exist on the telephone only. */
const VOICE_KEYS = VOICE_EVALUATION_KEYS.filter((key) => key !== 'phone-keys');
/** The faults that an agent on each of the platforms can have in its voice and protocol. */
export const WORD_PLATFORM_FAULTS = {
  'openai-realtime': [...SHARED_FAULT_NAMES, ...REALTIME_FAULT_NAMES],
  elevenlabs: [...SHARED_FAULT_NAMES, ...ELEVENLABS_FAULT_NAMES],
  vapi: [...SHARED_FAULT_NAMES, ...VAPI_FAULT_NAMES],
  pipecat: [...SHARED_FAULT_NAMES, ...PIPECAT_FAULT_NAMES],
} as const satisfies Readonly<Record<WordPlatform, readonly string[]>>;

const [PLAIN] = LINES;
const seedsOf = (seeds: number) => Array.from({ length: seeds }, (_, index) => index + 1);

/** Every fault in every evaluation that it can be part of, and the healthy agent there, once per seed. */
export function realtimeCells(seeds: number, platform: WordPlatform = 'openai-realtime'): RealtimeCell[] {
  const words = [undefined, ...WORD_FAULT_NAMES].flatMap((fault) =>
    EVALUATION_KEYS.flatMap((key) =>
      seedsOf(seeds).map((seed): WordCell => ({ platform, about: 'words', fault, key, line: PLAIN, seed })),
    ),
  );
  const voice = [undefined, ...WORD_PLATFORM_FAULTS[platform]].flatMap((fault) =>
    LINES.slice(0, fault ? 1 : LINES.length).flatMap((line) =>
      VOICE_KEYS.flatMap((key) =>
        seedsOf(seeds).map((seed): SoundCell => ({ platform, about: 'voice', fault, key, line, seed })),
      ),
    ),
  );
  return [...words, ...voice];
}

const wordEvaluations = referenceEvaluations('any');

export function realtimeEvaluationOf(cell: RealtimeCell): EvaluationInput {
  if (cell.about === 'voice') return voiceEvaluationOf({ ...cell, fault: undefined });
  return { ...wordEvaluations[EVALUATION_KEYS.indexOf(cell.key)]!, conditions: { seed: cell.seed } };
}

/** The place of the fault in the list of those of its platform; 0 for the healthy agent. */
function faultIndex({ platform, about, fault }: Pick<RealtimeCell, 'platform' | 'about' | 'fault'>): number {
  const names: readonly string[] = about === 'words' ? WORD_FAULT_NAMES : WORD_PLATFORM_FAULTS[platform];
  return fault ? names.indexOf(fault) : 0;
}

/** The faults have different voices, and each seed another one. */
export const realtimeVoiceOf = (cell: RealtimeCell): string =>
  CALLER_VOICES[(faultIndex(cell) + cell.seed - 1) % CALLER_VOICES.length]!;

export function expectedOf(cell: RealtimeCell): RealtimeExpectation {
  if (cell.about === 'voice') {
    const { platform, fault, key } = cell;
    if (platform === 'elevenlabs')
      return elevenlabsExpectationOf(fault && isElevenLabsFault(fault) ? fault : undefined, key);
    if (platform === 'vapi') return vapiExpectationOf(fault && isVapiFault(fault) ? fault : undefined, key);
    if (platform === 'pipecat') return pipecatExpectationOf(fault && isPipecatFault(fault) ? fault : undefined, key);
    return realtimeExpectationOf(fault && isRealtimeFault(fault) ? fault : undefined, key);
  }
  const expected = expectationOf(cell.fault, cell.key);
  if ('failure' in expected) throw new Error(`${cell.fault} is a fault of HTTP`);
  return expected;
}

export function judgedRealtime(
  cell: RealtimeCell,
  { outcome, end, checks, failure, voice }: CallResult,
): RealtimeCellResult {
  const expected = expectedOf(cell);
  const failed = checks.filter(({ met }) => met === false).map(({ name }) => name);
  const findings = voice?.wireFindings.map(({ code }) => code) ?? [];
  const isFound = expected.finding === undefined || findings.includes(expected.finding);
  return {
    ...cell,
    expected,
    outcome,
    isRight: isFound && isExpected(expected, { outcome, endCode: end.code, failed }),
    found: `${outcome} (${failure?.code ?? end.code}) ${[...failed, ...findings].join('; ')}`.trim(),
  };
}

/** The tools of the agent are run by its client, the tester: it sees what they are called with. */
const TOOLS = ['check_availability', 'book_table', 'cancel_booking'].map((name) => ({
  type: 'function',
  name,
  parameters: { type: 'object' },
}));
/** Settings of the session in calls about words. */
export const WORD_SESSION = { tools: TOOLS };

/** Everything that the callers of an evaluation may say. */
export function linesOf(script: readonly ScriptStep[]): string[] {
  const lines = script.flatMap((step): unknown[] => {
    if ('answers' in step) return [...step.answers.map(({ say }) => say), step.otherwise];
    return 'say' in step ? [step.say] : [];
  });
  return [...new Set(lines.filter((line) => typeof line === 'string'))];
}

/** The agent with what it understands in each evaluation, and its calls on the virtual clock. */
export class RealtimeCells {
  private readonly prepared = new Map<EvaluationKey, ReturnType<VoiceCalls['prepareFor']>>();

  constructor(private readonly calls: VoiceCalls) {}

  async call(cell: RealtimeCell, recording?: RealtimeCallOptions['recording']): Promise<CallResult> {
    const evaluation = realtimeEvaluationOf(cell);
    const voice = realtimeVoiceOf(cell);
    const { platform, fault } = cell;
    const prepared = cell.about === 'words' && { prepared: await this.preparedFor(cell.key) };
    const common = { ...(recording && { recording }), ...prepared };
    if (platform === 'elevenlabs') {
      return this.calls.callElevenLabs(evaluation, voice, {
        ...common,
        ...(fault && isElevenLabsFault(fault) && { fault }),
      });
    }
    if (platform === 'vapi') {
      return this.calls.callVapi(evaluation, voice, { ...common, ...(fault && isVapiFault(fault) && { fault }) });
    }
    if (platform === 'pipecat') {
      return this.calls.callPipecat(evaluation, voice, { ...common, ...(fault && isPipecatFault(fault) && { fault }) });
    }
    return this.calls.callRealtime(evaluation, voice, {
      ...common,
      ...(fault && isRealtimeFault(fault) && { fault }),
      ...(cell.about === 'words' && { session: WORD_SESSION }),
    });
  }

  /** Calls of an agent with the first seed that have another result than the expected one, each with what was found instead. */
  async deviations(of: Pick<RealtimeCell, 'platform' | 'about' | 'fault'>): Promise<string[]> {
    const cells = realtimeCells(1, of.platform).filter(({ about, fault }) => about === of.about && fault === of.fault);
    const isFound = (cell: RealtimeCell) => expectedOf(cell).outcome === 'failed';
    const found: string[] = [];
    for (const cell of sampleOfAgent(cells, isFound, faultIndex(of))) {
      const judged = judgedRealtime(cell, await this.call(cell));
      if (!judged.isRight) found.push(`${cell.key}, ${cell.line}: ${judged.found}`);
    }
    return found;
  }

  /** The agent understands the lines of one evaluation at a time. */
  preparedFor(key: EvaluationKey): ReturnType<VoiceCalls['prepareFor']> {
    const { script } = wordEvaluations[EVALUATION_KEYS.indexOf(key)]!;
    const prepared = this.prepared.get(key) ?? this.calls.prepareFor(linesOf(script ?? []), WORD_FAULT_NAMES);
    this.prepared.set(key, prepared);
    return prepared;
  }
}
