import type { Ear } from '../hearing/ear.js';
import type { CallerActs } from '../speaking/caller-acts.js';
import { utterancesOf } from '../words/utterances.js';
import type { AgentReports } from './agent-reports.js';
import type { MediaCallOptions } from './media-call-options.js';
import type { CallerPort } from './script-port.js';

interface Observed {
  readonly ear: Ear;
  readonly reports: AgentReports;
  readonly caller: CallerActs;
  /** Facts about the caller that hearing needs. */
  readonly times: Parameters<Ear['facts']>;
}

/** What a caller that is asked knows of a call. */
export const callerPort = (
  { onTurn, onPiece }: Pick<MediaCallOptions, 'onTurn' | 'onPiece'>,
  { ear, reports, caller, times }: Observed,
): CallerPort => ({
  ask: (question) => onTurn?.(question),
  utterances: (untilMs, hasInterrupted) => {
    const from = caller.turn - (hasInterrupted ? 1 : 0);
    // Words of a recogniser are not known here.
    const said = onPiece ? [] : reports.facts.said;
    const facts = { ...ear.factsSince(from, ...times), said, end: { atMs: untilMs } };
    return utterancesOf(facts).filter(({ turn }) => turn >= from);
  },
  wordReports: () => reports.saidCount,
  resultsDueMs: () => reports.dueMs,
});
