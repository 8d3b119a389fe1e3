import { type MarkedCounts, NAMED_CASES } from '../../../libs/statistics/index.js';
import type { AlarmEntity } from './alarm.entity.js';

export type NewAlarm = Omit<AlarmEntity, 'createdAt'>;

/** What is published of an alarm: figures of all of its cases together, and of the worst ones. */
export function toFigures({ measure, caseKey, cases, since, sinceRunId, looks, pValue }: NewAlarm) {
  const shareOf = ({ counted, marked }: MarkedCounts) => ({
    counted,
    share: (measure === 'passed' ? counted - marked : marked) / counted,
  });
  const total = (side: 'window' | 'reference'): MarkedCounts => ({
    counted: cases.reduce((sum, one) => sum + one[side].counted, 0),
    marked: cases.reduce((sum, one) => sum + one[side].marked, 0),
  });
  return {
    measure,
    caseKey,
    caseName: caseKey === null ? null : cases[0]!.name,
    since: since.toISOString(),
    sinceRunId,
    looks,
    pValue,
    now: shareOf(total('window')),
    before: shareOf(total('reference')),
    worstCases: cases.slice(0, NAMED_CASES).map(({ caseKey: key, name, window, reference, thresholdMs }) => ({
      ...{ caseKey: key, name, now: shareOf(window), before: shareOf(reference), thresholdMs },
    })),
  };
}
