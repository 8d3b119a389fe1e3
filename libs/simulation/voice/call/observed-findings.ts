import { FRAME_MS } from '../../../audio/index.js';
import type { MediaTiming, Span, VoiceFacts, WireFinding } from '../facts/facts.js';
import { heardAtTheEarliest } from '../measures/index.js';
import { commonFinding } from '../wire/common-findings.js';
import type { WordFacts } from '../words/item-audio.js';
import { wordsOfItems } from '../words/item-words.js';

type Observed = Omit<VoiceFacts, 'wireFindings' | 'stalled'>;

/**
 * Adds the findings to the observed facts. Underruns and findings that a stall of the tester may have caused are kept apart.
 * @param observed facts with all underruns @param findingsOf derives the findings from facts
 */
export function withFindings(
  observed: Observed,
  findingsOf: (facts: Omit<VoiceFacts, 'wireFindings'>) => VoiceFacts['wireFindings'],
): VoiceFacts {
  const { timing } = observed;
  const isStalled = (underrun: Span) => isStalledIn(timing, underrun);
  const own = { ...observed, underruns: observed.underruns.filter((underrun) => !isStalled(underrun)) };
  const facts = { ...own, wireFindings: findingsOf(own) };
  if (timing.stalls.length === 0) return facts;
  const underruns = observed.underruns.filter(isStalled);
  const certain = findingsOf(heardAtTheEarliest({ ...facts, stalled: { underruns, findings: [] } }));
  const doubtful = facts.wireFindings.filter((finding) => !certain.some(({ code }) => code === finding.code));
  return { ...facts, stalled: { underruns, findings: doubtful.map(({ code }) => code) } };
}

/** Findings about the words that the platform reported. */
export const wordFindings = (facts: WordFacts): WireFinding[] =>
  wordsOfItems(facts).flatMap(({ excess, played }) => {
    if (!excess) return [];
    const detail = `${excess.words} words for ${Math.round(excess.ms)} ms of audio`;
    return [{ ...commonFinding('words_exceed_audio', detail), atMs: played.startMs }];
  });

/** Whether the tester stalled in a span, or so shortly before it that messages were read late. */
const isStalledIn = ({ stalls }: MediaTiming, { startMs, endMs }: Span): boolean =>
  stalls.some(({ at, ms }) => at - FRAME_MS < endMs && at + ms > startMs - FRAME_MS);
