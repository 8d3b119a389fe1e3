import type { JsonSchema } from '../../platform/openapi/schema-parts.js';
import { count, described, list, object, oneOf, ref, text } from '../../platform/openapi/schema-parts.js';
import { WEBHOOK_EVENT_TYPES, type WebhookEventData, type WebhookEventType } from './webhook-event.js';

const uuid = { type: 'string', format: 'uuid' } as const;
const time = { type: 'string', format: 'date-time' } as const;
const score = { type: 'number', minimum: 0, maximum: 100 } as const;
const textOrNull = { type: ['string', 'null'] } as const;
const agent = { agentId: uuid, agentName: textOrNull } as const;
const schedule = { scheduleId: uuid, scheduleName: text } as const;
const watched = {
  scheduleId: described({ type: ['string', 'null'], format: 'uuid' }, 'Null for days of production calls'),
  scheduleName: text,
} as const;

const ID = '9b2f1c5e-7d4a-4c1b-8f3e-2a6d5b4c3f10';
const TIME = '2026-11-21T06:37:42.758Z';
const exampleAgent = { agentId: ID, agentName: 'Bella Vista reservations' } as const;
const exampleSchedule = { scheduleId: ID, scheduleName: 'Every night' } as const;

const run = described(
  object({
    id: uuid,
    name: text,
    label: text,
    agentId: uuid,
    workspaceId: uuid,
    userId: uuid,
    createdAt: time,
    updatedAt: time,
    metrics: object({ status: text, score, totalCalls: count }),
  }),
  'The run with its metrics',
);
const exampleRun: WebhookEventData['run.completed']['run'] = {
  id: ID,
  name: 'Nightly',
  label: 'READ',
  agentId: ID,
  workspaceId: ID,
  userId: ID,
  createdAt: TIME,
  updatedAt: TIME,
  metrics: { status: 'COMPLETED', score: 92.5, totalCalls: 12 },
};

const REPORT_URL = `https://tests.example.com/runs/${ID}/report`;
const reportUrl = described(
  textOrNull,
  'Address of the report, which requires an API key; null unless `PUBLIC_URL` is set',
);
const failedCase = described(
  object({
    key: textOrNull,
    name: text,
    outcome: oneOf('failed', 'invalid', 'error'),
    reason: textOrNull,
  }),
  'A case that did not pass, with the reason of its first such call; failed ones first',
);

const callShare = ref('AlarmShare');
const alarm = {
  alarmId: uuid,
  ...agent,
  ...watched,
  measure: described(oneOf('passed', 'slow'), 'Fewer calls passed, or more calls were slow'),
  caseKey: described(textOrNull, 'The case that fell alone; null for all cases together'),
  caseName: textOrNull,
  since: described(time, 'When the first run that belongs to the fall ended'),
  sinceRunId: uuid,
  looks: described(count, 'Looks of the fall when it was found'),
  pValue: { type: 'number', minimum: 0, maximum: 1 },
  now: described(callShare, 'In these looks: the share of calls that passed or, with `slow`, were slow'),
  before: described(callShare, 'In the looks before'),
  worstCases: { ...list(ref('AlarmedCase')), maxItems: 3 },
  reportUrl,
} as const;
const exampleShares = { now: { counted: 40, share: 0.675 }, before: { counted: 1_200, share: 0.975 } };
const exampleAlarm = {
  alarmId: ID,
  ...exampleAgent,
  ...exampleSchedule,
  measure: 'passed',
  ...{ caseKey: null, caseName: null, since: TIME, sinceRunId: ID, looks: 2, pValue: 0.00002 },
  ...exampleShares,
  worstCases: [{ caseKey: ID, name: 'Books a table for four', ...exampleShares, thresholdMs: null }],
  reportUrl: REPORT_URL,
} as const;

interface Documented<Type extends WebhookEventType> {
  readonly summary: string;
  readonly data: JsonSchema;
  readonly example: WebhookEventData[Type];
}

/** When each event type is sent, and its data. */
const EVENTS: { readonly [Type in WebhookEventType]: Documented<Type> } = {
  'run.completed': {
    summary: 'A run ended and its gate is met',
    data: object({ run, reportUrl }),
    example: { run: exampleRun, reportUrl: REPORT_URL },
  },
  'run.failed': {
    summary: 'A run ended and its gate is not met, or it could not be executed',
    data: object({ run, reason: text, reportUrl, failedCases: { ...list(failedCase), maxItems: 20 } }),
    example: {
      run: { ...exampleRun, metrics: { status: 'FAILED', score: 61.5, totalCalls: 12 } },
      reason: 'The score 61.5 is below the minimum 80',
      reportUrl: REPORT_URL,
      failedCases: [
        {
          key: 'large-party',
          name: 'Books a table for nine',
          outcome: 'failed',
          reason: 'The check "Confirms the number of guests" failed',
        },
      ],
    },
  },
  'agent.score_dropped': {
    summary: "A run's score is below the workspace's threshold, and the agent's previous ended run was not",
    data: object({ ...agent, runId: uuid, score, previousScore: score, scoreThreshold: score }),
    example: { ...exampleAgent, runId: ID, score: 61.5, previousScore: 92.5, scoreThreshold: 80 },
  },
  'evaluation.critical_failed': {
    summary: 'A call of an evaluation marked critical ended failed',
    data: object({ runId: uuid, evaluationId: uuid, callId: uuid, failedCriteria: list(text) }),
    example: { runId: ID, evaluationId: ID, callId: ID, failedCriteria: ['Confirms the number of guests'] },
  },
  'schedule.not_run': {
    summary: 'Two due times of a schedule in a row had no run: it was missed, refused or still in progress',
    data: object({
      ...schedule,
      ...agent,
      since: described(time, 'The first of them'),
      notRun: described(count, 'Their number'),
      reason: described(oneOf('missed', 'refused', 'overlap'), 'Of the last one'),
      issues: described(list(text), 'Why it was refused, one sentence each'),
    }),
    example: { ...exampleSchedule, ...exampleAgent, since: TIME, notRun: 2, reason: 'missed', issues: [] },
  },
  'agent.degraded': {
    summary: 'The newest runs of a schedule, or the newest days of production calls, are worse than those before them',
    data: object({
      ...alarm,
      isReminder: described({ type: 'boolean' }, 'The alarm was sent a day ago and is still open'),
    }),
    example: { ...exampleAlarm, isReminder: false },
  },
  'agent.recovered': {
    summary: 'An alarm ended that was sent before',
    data: object({
      ...alarm,
      endedBy: described(
        oneOf('recovered', 'accepted', 'new_version', 'case_removed', 'schedule_deleted'),
        'Later runs were as good as before the fall, a user accepted it, the agent has another version, its cases are in no run any more, or its schedule was deleted',
      ),
    }),
    example: { ...exampleAlarm, endedBy: 'recovered' },
  },
  'tester.unavailable': {
    summary:
      "More than a fifth of the calls of a schedule, or of a day of production calls, could not be judged, which is not the agent's fault",
    data: object({
      ...agent,
      ...watched,
      runId: uuid,
      calls: count,
      notJudged: described(count, 'Those of them that ended with `error` or `invalid`'),
    }),
    example: { ...exampleAgent, ...exampleSchedule, runId: ID, calls: 20, notJudged: 7 },
  },
  'monitoring.paused': {
    summary: 'Production calls of an agent are no longer fetched: the platform refused its key; a new key resumes',
    data: object({ ...agent, message: described(text, 'Why, in the words of the platform') }),
    example: {
      ...exampleAgent,
      message: 'The platform refused to give the records of its calls: HTTP 401, check the apiKey of the agent',
    },
  },
  'webhook.test': {
    summary: 'A test of the webhook',
    data: object({ endpointId: uuid, message: text }),
    example: { endpointId: ID, message: 'This is a test of the webhook' },
  },
};

const header = (name: string, description: string, example: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
  example,
});

const HEADERS = [
  header('webhook-id', 'Identifier of the event, the same on every attempt', ID),
  header('webhook-timestamp', 'When this attempt was made, in seconds since 1970', '1795243062'),
  header(
    'webhook-signature',
    'One or more signatures, separated by spaces',
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  ),
];

/** The events for the `webhooks` part of the OpenAPI 3.1 document. */
export function webhookDocument(): Record<string, object> {
  return Object.fromEntries(
    WEBHOOK_EVENT_TYPES.map((type) => {
      const { summary, data, example } = EVENTS[type];
      const body = object({ type: oneOf(type), timestamp: time, data });
      const post = {
        operationId: `webhook_${type.replace('.', '_')}`,
        tags: ['Webhooks'],
        summary,
        description: `${summary}. Signed by the Standard Webhooks specification 1.0.0.`,
        parameters: HEADERS,
        // OpenAPI has no security scheme for the signature.
        security: [],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: body, example: { type, timestamp: TIME, data: example } } },
        },
        responses: {
          '2XX': { description: 'Received' },
          '410': { description: 'No more events wanted: the webhook is disabled' },
          default: { description: 'The event is sent again later' },
        },
      };
      return [type, { post }];
    }),
  );
}
