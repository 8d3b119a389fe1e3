import type { EvaluationInput } from '../../../../../libs/evaluation-definition/index.js';
import {
  type Attempt,
  afterAttempt,
  attemptOf,
  type CallResult,
  type RecordingSink,
} from '../../../../../libs/simulation/index.js';
import type { Recogniser } from '../../../../../libs/speech/index.js';
import type { ListeningBehaviour, SentenceListener } from '../../../transcription/transcription-double.js';
import { EVALUATION_KEYS, type EvaluationKey, referenceEvaluations } from '../../evaluations.js';
import { expectationOf } from '../../expected.js';
import { isExpected, type RealtimeExpectation } from '../expected.js';
import { CALLER_VOICES, OWN_VOICE } from '../prepare.js';
import { repertoireOf } from '../repertoire.js';
import { WORD_FAULT_NAMES, type WordFaultName } from '../word-faults.js';
import { RememberingListener } from './heard-agent.js';
import { linesOf, RealtimeCells } from './realtime-cells.js';
import { Recognisers } from './recognisers.js';
import { TODAY, type VoiceCalls } from './voice-call.js';

/** A call of the text evaluations over Twilio, of which only the agent's sound is known. */
export interface TelephoneWordCell {
  readonly fault: WordFaultName | undefined;
  readonly key: EvaluationKey;
  /** Counts from 1; varies the voice of the caller. */
  readonly seed: number;
}

export const telephoneWordCells = (seeds: number): TelephoneWordCell[] =>
  [undefined, ...WORD_FAULT_NAMES].flatMap((fault) =>
    EVALUATION_KEYS.flatMap((key) => Array.from({ length: seeds }, (_, index) => ({ fault, key, seed: index + 1 }))),
  );

const evaluations = referenceEvaluations('any');

/** Without the checks on tool calls, which a telephone does not transmit. */
export function telephoneEvaluationOf({ key, seed }: Pick<TelephoneWordCell, 'key' | 'seed'>): EvaluationInput {
  const evaluation = evaluations[EVALUATION_KEYS.indexOf(key)]!;
  const checks = (evaluation.checks ?? []).filter(({ type }) => !type.endsWith('calls_tool'));
  return { ...evaluation, checks, conditions: { seed } };
}

/** A fault that only its tool calls show is not found. */
export function telephoneExpectationOf({ fault, key }: Pick<TelephoneWordCell, 'fault' | 'key'>): RealtimeExpectation {
  const expected = expectationOf(fault, key);
  if ('failure' in expected) throw new Error(`${fault} is a fault of HTTP`);
  if (expected.outcome === 'passed') return expected;
  const left = telephoneEvaluationOf({ key, seed: 1 }).checks!.map(({ name }) => name as string);
  const fails = expected.fails.filter((name) => left.includes(name));
  return fails.length === 0 && expected.endCode === undefined ? { outcome: 'passed' } : { ...expected, fails };
}

export interface JudgedTelephoneWords extends TelephoneWordCell {
  readonly expected: RealtimeExpectation;
  readonly outcome: CallResult['outcome'];
  readonly isRight: boolean;
  /** What happened, for people. */
  readonly found: string;
}

export function judgedTelephoneWords(cell: TelephoneWordCell, result: CallResult): JudgedTelephoneWords {
  const { outcome, end, checks, failure, reason } = result;
  const expected = telephoneExpectationOf(cell);
  const failed = checks.filter(({ met }) => met === false).map(({ name }) => name);
  const isRight = isExpected(expected, { outcome, endCode: end.code, failed });
  return { ...cell, expected, outcome, isRight, found: `${outcome} (${failure?.code ?? end.code}). ${reason}` };
}

/** Calls in which a transcription server hears the agent. */
export class TelephoneWords {
  private readonly cells: RealtimeCells;
  private readonly listeners = new Map<EvaluationKey, Promise<SentenceListener>>();
  private readonly recognisers = new Recognisers();

  constructor(private readonly calls: VoiceCalls) {
    this.cells = new RealtimeCells(calls);
  }

  async call(
    { fault, key, seed }: TelephoneWordCell,
    recogniser: Recogniser,
    recording?: RecordingSink,
  ): Promise<CallResult> {
    const evaluation = telephoneEvaluationOf({ key, seed });
    return this.calls.call(evaluation, CALLER_VOICES[(seed - 1) % CALLER_VOICES.length]!, {
      ...{ wordFault: fault, prepared: await this.cells.preparedFor(key), recogniser },
      ...(recording && { recording }),
    });
  }

  /** The result after the attempts that the service makes, without the time between them. */
  async untilEnd(cell: TelephoneWordCell, recogniser: Recogniser): Promise<CallResult> {
    const earlier: Attempt[] = [];
    for (;;) {
      const result = await this.call(cell, recogniser);
      const after = afterAttempt(result, earlier);
      if (after.next === 'end') return after.result;
      const now = new Date().toISOString();
      earlier.push(attemptOf(result, { startedAt: now, endedAt: now }));
    }
  }

  /** One that hears what the agent may say in an evaluation. */
  async recogniser(key: EvaluationKey, behaviour?: ListeningBehaviour): Promise<Recogniser> {
    const listener = this.listeners.get(key) ?? this.listenerOf(key);
    this.listeners.set(key, listener);
    return this.recognisers.listening(await listener, behaviour);
  }

  close(): Promise<void> {
    return this.recognisers.close();
  }

  private async listenerOf(key: EvaluationKey): Promise<SentenceListener> {
    const lines = linesOf(evaluations[EVALUATION_KEYS.indexOf(key)]!.script ?? []);
    const sounds = [];
    for (const text of repertoireOf(lines, TODAY, WORD_FAULT_NAMES)) {
      sounds.push(await this.calls.synthesiser.synthesise({ text, voice: OWN_VOICE }));
    }
    return new RememberingListener(sounds);
  }
}
