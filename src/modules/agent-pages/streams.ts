import type { ReportedAgentCase, ReportedCaseResult, ReportedStream } from '../../../libs/run-report/index.js';
import { caseState } from '../../../libs/statistics/index.js';
import type { RedRow, ResultRow, StreamRow } from './agent-pages.repository.js';

/** @param rows newest first */
export function streamsOf(rows: readonly StreamRow[], red: readonly RedRow[]): ReportedStream[] {
  const streams = [...groupedBy(rows, ({ scheduleId }) => scheduleId)].map(([scheduleId, results]) => {
    const runs = [...groupedBy(results, ({ runId }) => runId).values()].map(([first]) => first!);
    const since = new Map(red.filter((one) => one.scheduleId === scheduleId).map((one) => [one.caseKey, one]));
    return {
      scheduleId,
      name: results[0]!.scheduleName,
      runs: runs.map((row) => ({ runId: row.runId, endedAt: row.endedAt.toISOString(), gate: gateOf(row) })).reverse(),
      cases: casesOf(results, since),
    };
  });
  return streams.sort((a, b) => Number(a.scheduleId === null) - Number(b.scheduleId === null));
}

function gateOf({ status, exitCode }: StreamRow): ReportedStream['runs'][number]['gate'] {
  if (status === null || status === 'COMPLETED') return status === null ? null : 'met';
  return exitCode === 2 ? 'not_tested' : 'not_met';
}

/** Without the cases that the newest run of a schedule no longer has. */
function casesOf(rows: readonly StreamRow[], red: ReadonlyMap<string, RedRow>): ReportedAgentCase[] {
  const newest = rows[0]!;
  return [...groupedBy(rows, ({ caseKey }) => caseKey)]
    .filter(([, [first]]) => newest.scheduleId === null || first!.runId === newest.runId)
    .map(([caseKey, results]) => {
      const since = red.get(caseKey);
      return {
        name: results[0]!.name,
        results: results.map(toResult),
        redSince: since ? toResult(since) : null,
        isRedThroughout: since?.isRedThroughout ?? false,
      };
    });
}

function toResult(row: ResultRow): ReportedCaseResult {
  const { runId, position, repetition, passed, counted, endedAt } = row;
  return { runId, position, repetition, passed, counted, endedAt: endedAt.toISOString(), state: caseState(row) };
}

function groupedBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
