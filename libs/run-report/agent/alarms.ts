import type { FindableFall } from '../../statistics/index.js';
import { count, dateTime, percent, title } from '../../text/index.js';
import { html, type Html } from '../html.js';
import type { ReportedAgent, ReportedAlarm, WatchedSchedule } from './reported-agent.js';

/** What the top of the page says about alarms; nothing for an agent without schedules and alarms. */
export function alarmFacts(agent: ReportedAgent): (readonly [name: string, value: Html | string])[] {
  const { alarms, schedules } = agent;
  if (alarms.length === 0 && schedules.length === 0) return [];
  const open = openAlarms(agent);
  return [
    ['Open alarms', open.length === 0 ? 'none' : html`${open.map((one) => html`<p>${one}</p>`)}`],
    ...(schedules.length === 0
      ? []
      : [['Alarms find', html`${schedules.map((one) => html`<p>${findableText(one)}</p>`)}`] as const]),
  ];
}

/** What fell in each. */
export const openAlarms = ({ alarms }: ReportedAgent): Html[] => alarms.filter(({ isOpen }) => isOpen).map(alarmText);

/** What fell, and since when. */
export function alarmText({ scheduleName, measure, caseName, since }: ReportedAlarm): Html {
  const what = measure === 'passed' ? 'fewer calls pass' : 'more calls are slow';
  return html`<bdi>${title(scheduleName)}</bdi>: ${what} since
    ${dateTime(since)}${caseName !== null && html` in <bdi>${title(caseName)}</bdi>`}`;
}

function findableText({ name, unit, learning, findable }: WatchedSchedule): Html {
  const found = findable.filter((fall): fall is FindableFall & { looks: number } => fall.looks !== null);
  const words = learning
    ? `learning: ${count(learning.looks, `more ${unit}`)} and ${count(learning.calls, 'more counted call')} are needed`
    : found.length === 0
      ? `no fall within 17 ${unit}s`
      : `a fall to ${found.map(({ passRate, looks }) => `${percent(passRate)} within ${looks}`).join(', to ')} ${unit}s, in 9 of 10 cases`;
  return html`<bdi>${title(name)}</bdi>: ${words}`;
}
