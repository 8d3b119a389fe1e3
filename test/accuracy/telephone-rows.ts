import { heardAgent, isHeardOnTelephone, Recognisers, type VoiceCalls } from '../simulators/agent/testing/voice.js';
import type { EvaluationInput } from '../../libs/evaluation-definition/index.js';
import type { CallResult } from '../../libs/simulation/index.js';
import { Progress } from './progress.js';
import { VOICE_ROWS, voiceOfSeed, type VoiceRow } from './realtime-rows.js';

export interface TelephoneRowResult {
  readonly outcome: CallResult['outcome'];
  readonly expected: { readonly outcome: 'passed' | 'failed' };
  readonly isRight: boolean;
  readonly found: string;
}

/** The rows of the text matrix over Twilio, by a transcription server that hears exactly. */
export async function telephoneRows(calls: VoiceCalls): Promise<{
  readonly results: readonly TelephoneRowResult[];
  /** Markdown. */
  readonly table: string;
}> {
  const recognisers = new Recognisers();
  const rows = VOICE_ROWS.filter(isOfWords);
  const progress = new Progress('Twilio, rows of the matrix', rows.length);
  const lines = ['| Row of the matrix | Right outcome | Right |', '| --- | --- | --- |'];
  const results: TelephoneRowResult[] = [];
  try {
    for (const row of rows) {
      const { prepared, listener } = await heardAgent(calls, row.agent);
      const recogniser = await recognisers.listening(listener);
      const result = await calls.call(withoutTools(row.evaluation(1)), voiceOfSeed(1), { prepared, recogniser });
      const judged = judgedRow(row, result);
      results.push(judged);
      lines.push(`| ${titleOf(row)} | ${row.right} | ${judged.isRight ? 'yes' : 'no'} |`);
      progress.advance();
    }
    progress.end();
    return { results, table: lines.join('\n') };
  } finally {
    await recognisers.close();
  }
}

const titleOf = ({ group, name, check }: VoiceRow): string => `${group}: ${name}${check ? ` (${check})` : ''}`;

/** The checks that a telephone call can decide. */
const withoutTools = ({ checks = [], ...evaluation }: EvaluationInput): EvaluationInput => ({
  ...evaluation,
  checks: checks.filter(isHeardOnTelephone),
});

/** Whether what the row is about can be heard. */
function isOfWords(row: VoiceRow): boolean {
  const all = row.evaluation(1).checks ?? [];
  const left = withoutTools(row.evaluation(1)).checks ?? [];
  return row.check === undefined ? left.length === all.length : left.some(({ name }) => name === row.check);
}

function judgedRow(row: VoiceRow, result: CallResult): TelephoneRowResult {
  const { outcome, failure, end, reason } = result;
  return {
    outcome,
    expected: { outcome: row.right === 'failed' ? 'failed' : 'passed' },
    isRight: outcome === row.right && row.isFound(result),
    found: `${titleOf(row)}: ${outcome} (${failure?.code ?? end.code}). ${reason}`,
  };
}
