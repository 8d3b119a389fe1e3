import { type MarkedCounts, NAMED_CASES } from '../../../libs/statistics/index.js';
import type { AlarmEntity } from './alarm.entity.js';

export type NewAlarm = Omit<AlarmEntity, 'createdAt'>;

/** All cases of an alarm together. */
export type AlarmTotals = Readonly<Record<'window' | 'reference', MarkedCounts>>;

/** The schedule that an alarm is about; null for the days of production calls, which have the id of their agent. */
export const scheduleOf = ({ scheduleId, agentId }: Pick<AlarmEntity, 'scheduleId' | 'agentId'>): string | null =>
  scheduleId === agentId ? null : scheduleId;

/**
 * What is published of an alarm: figures of all of its cases together, and of the worst ones.
 * @param totals given if `cases` has the worst ones only
 */
export function toFigures(
  { measure, caseKey, cases, since, sinceRunId, looks, pValue }: NewAlarm,
  totals: AlarmTotals = { window: totalOf(cases, 'window'), reference: totalOf(cases, 'reference') },
) {
  const shareOf = ({ counted, marked }: MarkedCounts) => ({
    counted,
    share: (measure === 'passed' ? counted - marked : marked) / counted,
  });
  return {
    measure,
    caseKey,
    caseName: caseKey === null ? null : cases[0]!.name,
    since: since.toISOString(),
    sinceRunId,
    looks,
    pValue,
    now: shareOf(totals.window),
    before: shareOf(totals.reference),
    worstCases: cases.slice(0, NAMED_CASES).map(({ caseKey: key, name, window, reference, thresholdMs }) => ({
      ...{ caseKey: key, name, now: shareOf(window), before: shareOf(reference), thresholdMs },
    })),
  };
}

const totalOf = (cases: NewAlarm['cases'], side: keyof AlarmTotals): MarkedCounts => ({
  counted: cases.reduce((sum, one) => sum + one[side].counted, 0),
  marked: cases.reduce((sum, one) => sum + one[side].marked, 0),
});
