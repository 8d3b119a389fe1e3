import type { CallResult } from '../../../libs/simulation/index.js';
import type { RecordingFacts } from '../recordings/recordings.service.js';
import type { CallRecord } from './dto/call.responses.js';

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
});
