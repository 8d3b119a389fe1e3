import {
  type EventMatcher,
  type InOrderSpec,
  quoteOf,
  type SaysBeforeSpec,
} from '../../evaluation-definition/index.js';
import { firstUnknown } from '../timeline/known-words.js';
import { failedBy, type Finding } from './check-result.js';
import { never } from './happens.js';
import type { Leaves } from './kind.js';
import { type EventFinder, isAfter, known, type Occurrence } from './occurrences.js';

export const ORDER = {
  in_order: { evaluate: inOrder, couldChange: () => true },
  says_before: {
    evaluate: saysBefore,
    // The first times count.
    couldChange: (_, { met, evidence }, { view }) =>
      !(met && evidence.every(({ entry }) => entry < firstUnknown(view))),
  },
} satisfies Pick<Leaves, (InOrderSpec | SaysBeforeSpec)['type']>;

async function saysBefore({ first, then }: SaysBeforeSpec, finder: EventFinder): Promise<Finding> {
  const [earlier, later] = [await finder.first(first), await finder.first(then)];
  const evidence = [earlier, later].flatMap((saying) => (saying ? [saying.evidence] : []));
  if (!earlier) return failedBy({ met: false, detail: never(first), evidence }, later?.evidence.entry);
  if (!later) return { met: false, detail: never(then), evidence };
  const met = isAfter(later, earlier);
  const detail = `${quoteOf(first)} was said ${met ? 'before' : 'only after'} ${quoteOf(then)}`;
  return failedBy({ met, detail, evidence }, later.evidence.entry);
}

/**
 * Whether events happen in this order. Of what the agent does, the first time counts, because too early is wrong; of what
 * the caller says, the first time after the event before it.
 */
async function inOrder({ events }: InOrderSpec, finder: EventFinder): Promise<Finding> {
  const found: Occurrence[] = [];
  for (const index of events.keys()) {
    const previous = found.at(-1);
    const occurrence = await relevant(events, index, previous, finder);
    if (!occurrence) return missing(events, index, found, finder);
    if (previous && !isAfter(occurrence, previous)) {
      const detail = `Not in this order: ${occurrence.text} before ${previous.text}`;
      return failedBy({ met: false, detail, evidence: evidenceOf([previous, occurrence]) }, occurrence.evidence.entry);
    }
    found.push(occurrence);
  }
  const detail = `In this order: ${found.map(({ text }) => text).join(', ')}`;
  return { met: true, detail, evidence: evidenceOf(found), settledBy: found.at(-1)!.evidence.entry };
}

const evidenceOf = (found: readonly Occurrence[]) => found.map(({ evidence }) => evidence);

const isCallers = (event: EventMatcher): boolean => !('tool' in event) && event.speaker === 'caller';

async function relevant(
  events: InOrderSpec['events'],
  index: number,
  previous: Occurrence | undefined,
  finder: EventFinder,
): Promise<Occurrence | undefined> {
  const event = events[index]!;
  const same = JSON.stringify(event);
  let skipped = isCallers(event) ? 0 : events.slice(0, index).filter((each) => JSON.stringify(each) === same).length;
  for await (const found of finder.occurrences(event)) {
    const occurrence = known(found);
    if (isCallers(event) ? !previous || isAfter(occurrence, previous) : skipped-- === 0) return occurrence;
  }
  return undefined;
}

async function missing(
  events: InOrderSpec['events'],
  index: number,
  found: readonly Occurrence[],
  finder: EventFinder,
): Promise<Finding> {
  const previous = found.at(-1);
  const detail = `${never(events[index]!)}${previous ? ` after ${previous.text}` : ''}`;
  const next = events[index + 1];
  // What comes next has happened, so it is too late.
  const tooEarly = next && !isCallers(next) ? await relevant(events, index + 1, previous, finder) : undefined;
  const settled = tooEarly && (!previous || isAfter(tooEarly, previous)) ? tooEarly.evidence.entry : undefined;
  return failedBy({ met: false, detail, evidence: evidenceOf(found) }, settled);
}
