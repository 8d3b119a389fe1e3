import { HOSTILE_NAMES } from '../../../test/factories/hostile-names.js';
import { runData } from '../../../test/factories/webhook-events.js';
import { shown } from '../../../test/support/chat-receivers.js';
import { plain } from './slack-escape.js';
import { type SlackContext, slackBody } from './slack-message.js';
import { eventBody, type WebhookEventData, type WebhookEventType } from './webhook-event.js';

const PUBLIC_URL = 'https://tests.example.com';
const AGENT_ID = '9b2f1c5e-7d4a-4c1b-8f3e-2a6d5b4c3f10';
const RUN_ID = '1c9d7f3a-50c2-4a51-9d0e-6b1f0c2d4e5f';
const LINKS = [`${PUBLIC_URL}/runs/${RUN_ID}/report`, `${PUBLIC_URL}/agents/${AGENT_ID}/page`];
const run = (name = 'Nightly') => runData({ workspaceId: 'w', userId: 'u' }, { id: RUN_ID, name });

const CONTEXT: SlackContext = { agentId: AGENT_ID, agentName: 'Bella Vista', publicUrl: PUBLIC_URL };

function message<Type extends WebhookEventType>(
  type: Type,
  data: WebhookEventData[Type],
  context: Partial<SlackContext> = {},
): string {
  const parsed = JSON.parse(slackBody(eventBody(type, new Date(), data), { ...CONTEXT, ...context })) as {
    text: string;
  };
  expect(Object.keys(parsed)).toEqual(['text']);
  return parsed.text;
}

const failed = (text: string, cases = 1): WebhookEventData['run.failed'] => ({
  run: run(text),
  reason: text,
  reportUrl: null,
  failedCases: Array.from({ length: cases }, () => ({
    key: text,
    name: text,
    outcome: 'failed' as const,
    reason: text,
  })),
});

describe('the message of an event in the format slack', () => {
  it('says of a completed run which it was, its score and its links', () => {
    expect(message('run.completed', { run: run(), reportUrl: null })).toBe(
      `*Run completed*: Bella Vista · Nightly\nScore 92.5, 12 calls\n<${LINKS[0]}|Report> · <${LINKS[1]}|Agent>`,
    );
  });

  it('says of a failed run why, and names five of its cases', () => {
    const data = { ...failed('x', 6), run: run(), reason: 'The score of 50 is below the minimum of 80.' };
    expect(message('run.failed', data).split('\n')).toEqual([
      '*Run failed*: Bella Vista · Nightly',
      'The score of 50 is below the minimum of 80.',
      ...Array<string>(5).fill('• x (failed): x'),
      '… and more',
      `<${LINKS[0]}|Report> · <${LINKS[1]}|Agent>`,
    ]);
  });

  it('says of a dropped score from where to where, and of a critical evaluation what was not met', () => {
    const drop = {
      agentId: AGENT_ID,
      agentName: null,
      runId: RUN_ID,
      score: 61.5,
      previousScore: 92.5,
      scoreThreshold: 80,
    };
    expect(message('agent.score_dropped', drop)).toContain(
      'Bella Vista\nFrom 92.5 to 61.5, below the threshold of 80\n',
    );
    const critical = {
      runId: RUN_ID,
      evaluationId: 'e',
      callId: 'c',
      failedCriteria: ['Confirms the number of guests'],
    };
    expect(message('evaluation.critical_failed', critical)).toContain('\n• Confirms the number of guests\n');
  });

  it('says since when a schedule does not run, and why', () => {
    const data = {
      ...{ scheduleId: 's', scheduleName: 'Every <night>', agentId: AGENT_ID, agentName: null },
      ...{ since: '2026-12-01T01:00:00.000Z', notRun: 2, reason: 'refused' as const, issues: ['No evaluation'] },
    };
    const text = message('schedule.not_run', data);
    expect(text).toContain('*Schedule does not run*: Bella Vista · Every &lt;night&gt;\n2 due times in a row since');
    expect(text).toContain(`refused\n• No evaluation\n<${PUBLIC_URL}/schedules/s/slots|Slots>`);
  });

  it('links a test to the webhook and its deliveries', () => {
    const text = message(
      'webhook.test',
      { endpointId: 'e', message: 'This is a test' },
      { agentId: null, agentName: null },
    );
    expect(text).toBe(
      `*Test*\nThis is a test\n<${PUBLIC_URL}/workspace/webhooks/e|Webhook> · <${PUBLIC_URL}/workspace/webhooks/e/deliveries|Deliveries>`,
    );
  });

  it('has no links without PUBLIC_URL', () => {
    const text = message('run.completed', { run: run(), reportUrl: null }, { agentName: null, publicUrl: undefined });
    expect(text).toBe('*Run completed*: Nightly\nScore 92.5, 12 calls');
  });

  it.each(HOSTILE_NAMES)('notifies no one, links to nothing else and hides nothing for the name %j', (name) => {
    const critical = { runId: RUN_ID, evaluationId: 'e', callId: 'c', failedCriteria: [name] };
    const ofCriteria = message('evaluation.critical_failed', critical);
    const ofRun = message('run.failed', failed(name, 2), { agentName: name });
    for (const text of [ofCriteria, ofRun]) {
      for (const chat of ['slack', 'mattermost', 'discord'] as const) {
        expect([chat, shown(chat, text)]).toEqual([chat, { mentions: [], links: LINKS }]);
      }
      expect(text.replaceAll('\u200B', '')).not.toMatch(/[`@\u0000-\u0009\u000B-\u001F]|\p{Cf}/u);
      expect(text).not.toContain('||');
    }
    expect([ofCriteria, ofRun].map((text) => text.split('\n').length)).toEqual([3, 5]);
  });

  it.each(['&', '<', '"', '🙂', '\u0000', 'x', '||', '.a'])(
    'keeps a text of many %j within 2,000 characters, which is the limit of Discord (thp/urlwatch#353)',
    (part) => {
      const text = message('run.failed', failed(part.repeat(1_000), 20), { agentName: part.repeat(255) });
      expect(text.length).toBeLessThanOrEqual(2_000);
      expect(text.isWellFormed()).toBe(true);
      expect(text).not.toMatch(/&(?!amp;|lt;|gt;)/);
      expect(shown('slack', text).links).toEqual(LINKS);
    },
  );

  it('keeps letters, emoji and joiners of other languages as they are', () => {
    for (const text of ['Größe 3.5 um 10 Uhr', 'می‌خواهم', '👩‍👩‍👧', '3 * 4 = order_status']) {
      expect(plain(text, 100)).toBe(text);
    }
  });
});
