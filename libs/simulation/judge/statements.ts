import { criteriaIn, type EvaluationDefinition } from '../../evaluation-definition/index.js';
import { BROKEN_OFF, partOfTurns, turnsOfLine } from '../timeline/parts.js';
import type { TimelineEntry } from '../timeline/timeline.js';
import type { Judged } from './criterion-result.js';

/** Indices of entries, with the number of the time that they belong to. */
export type JudgedPart = ReadonlyMap<number, number>;

/** A statement for the judge. */
export interface Statement {
  readonly text: string;
  /** What it is about, each time that its line was said; absent for the whole call. */
  readonly part?: JudgedPart;
}

/** The criteria of an evaluation, then those in its checks. */
export function statementsOf(
  { criteria, checks }: Pick<EvaluationDefinition, 'criteria' | 'checks'>,
  entries: readonly TimelineEntry[],
): Statement[] {
  const inTurn = (text: string, turn: number | undefined): Statement =>
    turn === undefined ? { text } : { text, part: partOf(entries, [new Set([turn])]) };
  return [
    ...criteria.map(({ text, turn }) => inTurn(text, turn)),
    ...checks.flatMap((check) =>
      criteriaIn([check]).map(({ criterion, turn }) =>
        check.step === undefined
          ? inTurn(criterion, turn)
          : { text: criterion, part: partOf(entries, turnsOfLine({ entries }, check)) },
      ),
    ),
  ];
}

function partOf(entries: readonly TimelineEntry[], times: readonly ReadonlySet<number>[]): JudgedPart {
  return new Map(
    times.flatMap((turns, index) => {
      const part = partOfTurns({ entries }, turns);
      return [...part.entries, ...part.open].map((entry) => [entry, index + 1] as const);
    }),
  );
}

/** What holds of a statement about a part that the call did not reach; undefined for others. */
export function ofMissingPart({ part }: Statement, entries: readonly TimelineEntry[]): Judged | undefined {
  if (!part || [...part.keys()].some((index) => entries[index]?.type !== 'end')) return undefined;
  const end = entries.findLast((entry) => entry.type === 'end');
  const verdict = end && BROKEN_OFF.has(end.code) ? 'not_judged' : 'not_met';
  const reason = 'The call ended before the part that this is about';
  return { verdict, reason, evidence: null, samples: [], disagreement: false };
}
