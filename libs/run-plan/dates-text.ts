import { datesFrom, placeholders, readDate } from '../evaluation-definition/index.js';
import type { PlannedEvaluation } from './planned-evaluation.js';

/** Days that are named; the others are counted likewise. */
const MAX_DAYS = 5;

/** What the dates of an evaluation would be now, as at most one sentence. */
export function datesText({ snapshot, cases }: PlannedEvaluation): string[] {
  const { dates: origin, scenarioText, generalInstructions, definition } = snapshot;
  const rows = cases.map(({ variables }) => variables);
  const texts = [scenarioText, generalInstructions, definition, ...rows];
  const days = new Set(placeholders(texts).flatMap(({ name }) => readDate(name)?.day ?? []));
  if (!origin || days.size === 0) return [];
  const valueOf = datesFrom(origin);
  const named = [...days]
    .slice(0, MAX_DAYS)
    .map((day) => `${day} is ${valueOf(day, 'spoken')} (${valueOf(day, 'iso')})`);
  return [`Dates are those of ${origin.timezone} when the run starts; now ${named.join(', ')}.`];
}
