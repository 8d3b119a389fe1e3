import type { CallResult } from '../../libs/simulation/index.js';

export const HASHES = ['recording', 'wire', 'decision'] as const;
/** SHA-256 of the recorded audio, of the wire log's lines, and of what was decided and measured. */
export type Hashes = Readonly<Record<(typeof HASHES)[number], string>>;

/** @param ms duration of the call */
export interface Replay {
  readonly ms: number;
  /** Whether judging it again from recording and facts decides and measures the same. */
  readonly isRemeasuredAlike: boolean;
  readonly hashes: Hashes;
}

/** Fields that are written for people, whose wording may change. */
const SENTENCES = new Set(['text', 'name', 'detail', 'message', 'reason', 'endReason', 'quote', 'source']);

/** JSON without sentences, with the fields of each object in alphabetical order. */
const canonical = (value: object): string =>
  JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    const fields = Object.entries(part).filter(([name]) => !SENTENCES.has(name));
    return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
  });

/** Hashes of calls without background audio are those of the time before it was measured. */
const measured = ({ background, ...voice }: NonNullable<CallResult['voice']>['voice']) => ({
  ...voice,
  ...(background && { background }),
});

/** The words with their times, of calls on which those of the agent are known; other calls keep their hashes. */
const heard = ({ words, wordsFrom }: NonNullable<CallResult['voice']>) =>
  wordsFrom ? words.map(({ speaker, text, startMs, endMs }) => [speaker, text, startMs, endMs]) : undefined;

/** What was decided and measured on a call, as text. */
export function decisionOf({ failure, measures, voice, ...result }: CallResult): string {
  const { outcome, score, end, checks, invalidity, answeredTurns, reliability, timeline } = result;
  const { tester: _, ...callMeasures } = measures;
  return canonical({
    ...{ outcome, score, end, checks, answeredTurns, reliability, timeline },
    failure: failure?.code,
    invalidity: invalidity?.code,
    measures: callMeasures,
    voice: voice && measured(voice.voice),
    heard: voice ? heard(voice) : undefined,
    lanes: voice?.lanes,
    findings: voice?.wireFindings,
  });
}
