import { count, number } from '../../../libs/text/index.js';
import { link, plain } from './slack-escape.js';
import type { AlarmData, RunData, WebhookEventData, WebhookEventType } from './webhook-event.js';

/** In UTF-16 units. Discord refuses longer texts; Slack and Mattermost accept more. */
const MAX_TEXT = 2_000;
const MAX_NAME = 120;
const MAX_REASON = 500;
const MAX_CASE_REASON = 160;
/** Cases or criteria that a message names. */
const MAX_ITEMS = 5;

/** What an event does not hold. */
export interface SlackContext {
  /** The agent that the event is about; null for a test. */
  readonly agentId: string | null;
  readonly agentName: string | null;
  readonly publicUrl: string | undefined;
  /** The page of the agent for readers without a key. */
  readonly pageUrl?: string | undefined;
}

/** The parts of a message; texts of others are escaped. */
interface Message {
  readonly title: string;
  readonly subject?: string;
  readonly lines: readonly string[];
  /** Label and path of each link beside that to the agent; `below`: its path below a page for readers without a key. */
  readonly links: readonly (readonly [label: string, path: string, below?: string])[];
}

const report = (runId: string) => [['Report', `/runs/${runId}/report`, `/runs/${runId}`]] as const;

const listed = (items: readonly string[]): string[] => [
  ...items.slice(0, MAX_ITEMS).map((item) => `• ${item}`),
  ...(items.length > MAX_ITEMS ? ['… and more'] : []),
];

const figures = ({ score, totalCalls }: RunData['metrics']) => `Score ${number(score)}, ${count(totalCalls, 'call')}`;

const percent = (share: number): string => `${number(Math.round(share * 1_000) / 10)} %`;

/** The figures of an alarm, and of the cases that fell most. */
function alarmLines({ measure, caseName, since, now, before, worstCases }: AlarmData): string[] {
  const fell = (to: number, from: number) =>
    `${percent(to)} ${measure === 'passed' ? 'passed' : 'were slow'}, ${percent(from)} before`;
  const what = caseName === null ? '' : `${plain(caseName, MAX_NAME)}: `;
  return [
    `${what}of ${count(now.counted, 'call')} since ${since.slice(0, 10)}, ${fell(now.share, before.share)}`,
    ...(caseName === null
      ? listed(worstCases.map((one) => `${plain(one.name, MAX_NAME)}: ${fell(one.now.share, one.before.share)}`))
      : []),
  ];
}

const ENDINGS = {
  recovered: 'Recovered',
  accepted: 'Alarm accepted',
  new_version: 'Alarm over: new version',
  case_removed: 'Alarm over: its cases are not run any more',
  schedule_deleted: 'Alarm over: schedule deleted',
} as const satisfies Record<WebhookEventData['agent.recovered']['endedBy'], string>;

/** The message of each type of event. */
const MESSAGES: { readonly [Type in WebhookEventType]: (data: WebhookEventData[Type]) => Message } = {
  'run.completed': ({ run }) => ({
    title: 'Run completed',
    subject: run.name,
    lines: [figures(run.metrics)],
    links: report(run.id),
  }),
  'run.failed': ({ run, reason, failedCases }) => ({
    title: 'Run failed',
    subject: run.name,
    lines: [
      plain(reason, MAX_REASON),
      ...listed(
        failedCases.map(({ name, outcome, reason: why }) =>
          [`${plain(name, MAX_NAME)} (${outcome})`, ...(why === null ? [] : [plain(why, MAX_CASE_REASON)])].join(': '),
        ),
      ),
    ],
    links: report(run.id),
  }),
  'agent.score_dropped': ({ runId, score, previousScore, scoreThreshold }) => ({
    title: 'Score dropped',
    lines: [`From ${number(previousScore)} to ${number(score)}, below the threshold of ${number(scoreThreshold)}`],
    links: report(runId),
  }),
  'evaluation.critical_failed': ({ runId, failedCriteria }) => ({
    title: 'Critical evaluation failed',
    lines: listed(failedCriteria.map((criterion) => plain(criterion, MAX_CASE_REASON))),
    links: report(runId),
  }),
  'schedule.not_run': ({ scheduleId, scheduleName, notRun, since, reason, issues }) => ({
    title: 'Schedule does not run',
    subject: scheduleName,
    lines: [
      `${notRun} due times in a row since ${since} without a run; the last one: ${reason}`,
      ...listed(issues.map((issue) => plain(issue, MAX_REASON))),
    ],
    links: [['Slots', `/schedules/${scheduleId}/slots`]],
  }),
  'agent.degraded': (data) => ({
    title: data.isReminder ? 'Still degraded' : 'Degraded',
    subject: data.scheduleName,
    lines: alarmLines(data),
    links: report(data.sinceRunId),
  }),
  'agent.recovered': ({ endedBy, ...data }) => ({
    title: ENDINGS[endedBy],
    subject: data.scheduleName,
    lines: alarmLines(data).slice(0, 1),
    links: report(data.sinceRunId),
  }),
  'tester.unavailable': ({ scheduleName, runId, calls, notJudged }) => ({
    title: 'Calls could not be judged',
    subject: scheduleName,
    lines: [`${notJudged} of ${count(calls, 'call')}, which says nothing about the agent`],
    links: report(runId),
  }),
  'monitoring.paused': ({ agentId, agentName, message }) => ({
    title: 'Production calls are not fetched',
    subject: agentName ?? agentId,
    lines: [plain(message, MAX_REASON)],
    links: [['Monitoring', `/agents/${agentId}/monitoring`]],
  }),
  'webhook.test': ({ endpointId, message }) => ({
    title: 'Test',
    lines: [message],
    links: [
      ['Webhook', `/workspace/webhooks/${endpointId}`],
      ['Deliveries', `/workspace/webhooks/${endpointId}/deliveries`],
    ],
  }),
};

/**
 * The body of an event for an endpoint with format `slack`: one `text` of at most 2,000 characters, with links if `PUBLIC_URL`
 * is set.
 * @param body the event as stored
 */
export function slackBody(body: string, { agentId, agentName, publicUrl, pageUrl }: SlackContext): string {
  const { type, data } = JSON.parse(body) as { readonly type: WebhookEventType; readonly data: never };
  const { title, subject, lines, links } = MESSAGES[type](data);
  const names = [agentName, subject].map((name) => plain(name ?? '', MAX_NAME)).filter((name) => name !== '');
  const head = names.length > 0 ? `*${title}*: ${names.join(' · ')}` : `*${title}*`;
  const all = agentId === null ? links : [...links, ['Agent', `/agents/${agentId}/page`, ''] as const];
  const linked = all.map(([label, path, below]) =>
    link(pageUrl === undefined || below === undefined ? `${publicUrl ?? ''}${path}` : pageUrl + below, label),
  );
  const foot = publicUrl === undefined ? [] : [linked.join(' · ')];
  return JSON.stringify({
    text: [head, ...fitting(lines, MAX_TEXT - [head, ...foot].join('\n').length), ...foot].join('\n'),
  });
}

/** The first lines that fit into a length, each with a line end; an ellipsis stands for the others. */
function fitting(lines: readonly string[], length: number): string[] {
  let left = length - '\n…'.length;
  const end = lines.findIndex((line) => (left -= line.length + 1) < 0);
  return end === -1 ? [...lines] : [...lines.slice(0, end), '…'];
}
