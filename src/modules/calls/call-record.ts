import {
  attemptWithoutTexts,
  type CallResult,
  checkWithoutTexts,
  withoutTexts,
} from '../../../libs/simulation/index.js';
import { type Reader, readsWords } from '../../platform/access/caller.js';
import type { RecordingFacts } from '../recordings/recordings.service.js';
import type { CallRow, CallWithResult, WholeCall } from './calls.repository.js';
import type { CallRecord } from './dto/call.responses.js';

/** A call as a reader gets it: all of it, or the same fields without anything that was said. */
export function shownTo<Row extends CallRow & Partial<CallWithResult & WholeCall>>(reader: Reader, row: Row): Row {
  if (readsWords(reader, row.origin)) return row;
  const { result, earlierResults, imported, preliminary } = row;
  const attempts = row.attempts.map((attempt) => attemptWithoutTexts(attempt, 'withheld'));
  const emptied = result && withoutTexts(result, 'withheld');
  return {
    ...row,
    attempts,
    // Calls that were never begun have fixed sentences.
    reason: row.reason && (emptied ?? attempts.at(-1) ?? row).reason,
    preliminary: preliminary && {
      ...preliminary,
      checks: preliminary.checks.map((check) => checkWithoutTexts(check, 'withheld')),
    },
    ...(emptied && { result: emptied }),
    ...(earlierResults && {
      earlierResults: Object.fromEntries(
        Object.entries(earlierResults).map(([number, earlier]) => [number, withoutTexts(earlier, 'withheld')]),
      ),
    }),
    ...(imported && { imported: { ...imported, endedReason: null, reported: null } }),
  };
}

/** The result of an attempt as the API returns it. Fields are empty without a result, or when an older version stored it. */
export const toRecord = (result: CallResult | null, recording: RecordingFacts | null): CallRecord => ({
  timeline: result?.timeline ?? [],
  end: result?.end ?? null,
  checks: result?.checks ?? [],
  criteria: result?.criteria ?? [],
  measures: result?.measures ?? null,
  failure: result?.failure ?? null,
  invalidity: result?.invalidity ?? null,
  versions: result?.versions ?? null,
  exchange: result?.exchange ?? null,
  unusableAnswers: result?.unusableAnswers ?? [],
  reliability: result?.reliability ?? null,
  voice: result?.voice?.voice ?? null,
  // The messages of a call that was recorded elsewhere are not known.
  wireFindings: result?.voice?.voice?.clock === 'recorded' ? null : (result?.voice?.wireFindings ?? []),
  words: result?.voice?.words ?? [],
  wordsOmitted: result?.voice?.wordsOmitted ?? 0,
  wordsFrom: result?.voice?.wordsFrom ?? null,
  recording,
  recordingOmitted: result?.recordingOmitted ?? null,
  unmeasured: result?.unmeasured ?? null,
});
