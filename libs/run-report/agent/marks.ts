import { title } from '../../text/index.js';
import { html, type Html } from '../html.js';
import { alarmText } from './alarms.js';
import type { ReportedAlarm, ReportedLook, ReportedTester } from './reported-agent.js';

/** Something that changed between two runs, at the position of the later one. */
export interface Mark {
  readonly at: number;
  readonly kind: 'version' | 'tester' | 'alarm';
  readonly what: Html;
}

const TESTER_PARTS: readonly (readonly [keyof ReportedTester, string])[] = [
  ['service', 'service'],
  ['judge', 'judge'],
  ['transcription', 'transcription'],
  ['speech', 'voices'],
];

/** Where the agent's version or the tester changed, each compared with the run before of the same schedule, and where alarms began. */
export function marksOf(looks: readonly ReportedLook[], alarms: readonly ReportedAlarm[]): Mark[] {
  const before = new Map<string | null, ReportedLook>();
  return looks.flatMap((look, at) => {
    const previous = before.get(look.scheduleId);
    before.set(look.scheduleId, look);
    const changes = previous ? [...versionMark(previous, look, at), ...testerMark(previous, look, at)] : [];
    const begun = alarms.filter(({ since }) => since === look.endedAt);
    return [
      ...changes,
      ...begun.map((one) => ({ at, kind: 'alarm' as const, what: html`alarm of ${alarmText(one)}` })),
    ];
  });
}

function versionMark({ agentVersion: before }: ReportedLook, { agentVersion: now }: ReportedLook, at: number): Mark[] {
  if (before === now || now === null) return [];
  const from = before === null ? '' : html` from <bdi>${title(before)}</bdi>`;
  return [{ at, kind: 'version', what: html`the agent version changed ${from} to <bdi>${title(now)}</bdi>` }];
}

/** A text call has no transcription and no voices: that does not count as a change of the tester. */
function testerMark(before: ReportedLook, { tester }: ReportedLook, at: number): Mark[] {
  const changed = TESTER_PARTS.flatMap(([part, label]) => {
    const [from, to] = [wordsOf(before.tester[part]), wordsOf(tester[part])];
    return from === '' || to === '' || from === to ? [] : [html`, ${label} <bdi>${from}</bdi> → <bdi>${to}</bdi>`];
  });
  if (changed.length === 0) return [];
  return [{ at, kind: 'tester', what: html`the tester changed${changed}` }];
}

const wordsOf = (part: string | readonly string[] | null): string =>
  title(typeof part === 'string' ? part : (part ?? []).join(', '));
