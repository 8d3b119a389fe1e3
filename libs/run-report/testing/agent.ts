import { caseState } from '../../statistics/index.js';
import type { ReportedAgent, ReportedCaseResult, ReportedLook, ReportedProduction, ReportedStream } from '../index.js';

const HOUR_MS = 60 * 60 * 1_000;
const START = Date.parse('2026-10-01T02:00:00Z');
/** The schedule of the runs. */
const SCHEDULE = { scheduleId: 'nightly', name: 'Nightly' };
const MAX_COLUMNS = 30;

/** A case with the passed and counted calls of each night. */
export interface Nights {
  readonly name: string;
  readonly nights: readonly (readonly [passed: number, counted: number])[];
}

const idOf = (night: number) => `run-${night}`;
export const endOf = (night: number): string => new Date(START + night * 24 * HOUR_MS).toISOString();
const nightsOf = (cases: readonly Nights[]): number => Math.max(0, ...cases.map(({ nights }) => nights.length));

/** The page of an agent with one run of a schedule a night. Its third night from the end was deleted. */
export function agentWith(
  cases: readonly Nights[],
  values: Partial<ReportedAgent> = {},
  look: (night: number) => Partial<ReportedLook> = () => ({}),
): ReportedAgent {
  const nights = nightsOf(cases);
  const looks = Array.from({ length: nights }, (_, night): ReportedLook => {
    const { passed, counted } = totalOf(cases, night);
    return {
      ...{ runId: idOf(night), name: 'Nightly', endedAt: endOf(night), agentVersion: 'v1' },
      scheduleId: SCHEDULE.scheduleId,
      tester: { service: '1.0.0', judge: 'gpt-4o', transcription: null, speech: [] },
      ...{ passed, failed: counted - passed, invalid: 0, error: 0, p50: 800, p95: 1_600 },
      ...look(night),
    };
  });
  return {
    ...{ id: '9b2f1c5e-7d4a-4c1b-8f3e-2a6d5b4c3f10', name: 'Bella Vista', days: 90, to: endOf(nights) },
    nextRunAt: endOf(nights),
    ...{ alarms: [], schedules: [] },
    looks,
    runs: nights,
    streams: nights === 0 ? [] : [streamWith(cases)],
    production: null,
    reportOf: (runId) => (runId === idOf(nights - 3) ? undefined : `runs/${runId}`),
    pageOf: (days) => `?days=${days}`,
    ...values,
  };
}

/** A night's gate is met if no call failed. */
export function streamWith(cases: readonly Nights[], values: Partial<ReportedStream> = {}): ReportedStream {
  const resultOf = ([passed, counted]: readonly [number, number], night: number, position: number) =>
    ({
      ...{ runId: idOf(night), endedAt: endOf(night), passed, counted, position, repetition: 1 },
      state: caseState({ passed, failed: counted - passed }),
    }) satisfies ReportedCaseResult;
  const runs = Array.from({ length: nightsOf(cases) }, (_, night) => {
    const { passed, counted } = totalOf(cases, night);
    return { runId: idOf(night), endedAt: endOf(night), gate: passed === counted ? 'met' : 'not_met' } as const;
  });
  return {
    ...SCHEDULE,
    runs: runs.slice(-MAX_COLUMNS),
    cases: cases.map(({ name, nights }, position) => {
      const results = nights.map((pair, night) => resultOf(pair, night, position));
      const green = results.findLastIndex(({ state }) => state === 'passed');
      const redSince = results.slice(green + 1).find(({ state }) => state === 'failed' || state === 'flaky') ?? null;
      return { name, results: [...results].reverse(), redSince, isRedThroughout: redSince !== null && green === -1 };
    }),
    ...values,
  };
}

function totalOf(cases: readonly Nights[], night: number): { passed: number; counted: number } {
  const of = cases.map(({ nights }) => nights[night] ?? [0, 0]);
  const [passed, counted] = [0, 1].map((n) => of.reduce((sum, pair) => sum + pair[n]!, 0)) as [number, number];
  return { passed, counted };
}

/** 60 nights: a fall of one case in the last nights with its alarm, a flaky case, another judge, and another version of the agent. */
export function sampleAgent(): ReportedAgent {
  const nights = (passed: (night: number) => number): [number, number][] =>
    Array.from({ length: 60 }, (_, night) => [passed(night), 4]);
  return agentWith(
    [
      { name: 'Books a table for four', nights: nights(() => 4) },
      { name: 'Cancels a booking', nights: nights((night) => (night < 52 ? 4 : night % 3)) },
      { name: 'Asks for opening hours', nights: nights((night) => (night % 11 === 3 ? 3 : 4)) },
      { name: 'Moves a booking (day: Friday)', nights: nights(() => 4) },
      { name: 'Speaks to a person', nights: nights((night) => (night % 17 === 5 ? 2 : 4)) },
    ],
    {
      alarms: [{ scheduleName: 'Nightly', measure: 'passed', caseName: null, since: endOf(53), isOpen: true }],
      schedules: [
        {
          name: 'Nightly',
          unit: 'run',
          learning: null,
          findable: [
            { passRate: 0.9, looks: 17 },
            { passRate: 0.8, looks: 5 },
            { passRate: 0.7, looks: 3 },
          ],
        },
      ],
    },
    (night) => ({
      p50: 720 + ((night * 37) % 130),
      p95: 1_450 + ((night * 91) % 400) + (night > 40 ? 300 : 0),
      ...(night % 14 === 9 && { error: 3 }),
      ...(night >= 25 && { tester: { service: '1.0.0', judge: 'gpt-4.1', transcription: null, speech: [] } }),
      ...(night >= 52 && { agentVersion: 'v2' }),
    }),
  );
}

/** A week of production calls, of which the newest failed ones have this name and reason. */
export function productionWith(text: string, failed: number): ReportedProduction {
  const none = { passed: 0, failed: 0, notJudged: 0, notApplicable: 0, overLimit: 0 };
  return {
    ...{ from: '2026-11-23', to: '2026-11-29', days: 7 },
    cases: [
      { ...none, name: 'Books', passed: 980, failed: 2, notJudged: 4, notApplicable: 30, overLimit: 1 },
      { ...none, name: 'Opens' },
      { ...none, name: 'Cancels', failed: 20 },
    ],
    failed: Array.from({ length: failed }, (_, at) => ({
      ...{ callId: `id-${at}`, externalId: `ext-${at}`, runId: 'day', name: text, reason: text },
      ...{ startedAt: '2026-11-29T18:00:00.000Z', position: 0, repetition: at + 1 },
    })),
  };
}
