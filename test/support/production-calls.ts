import { OutboundClient } from '../../libs/outbound-http/index.js';
import type { MonitoredAgent, ProductionCall, TakenCall } from '../../libs/simulation/index.js';
import { AgentsService } from '../../src/modules/agents/agents.service.js';
import { ConnectionService } from '../../src/modules/agents/connection/connection.service.js';
import { CapacityService } from '../../src/modules/capacity/capacity.service.js';
import { CallFetcher } from '../../src/modules/monitoring/call-fetcher.service.js';
import { MonitoringRepository } from '../../src/modules/monitoring/monitoring.repository.js';
import { SoundFetcher } from '../../src/modules/monitoring/sound-fetcher.service.js';
import { RecordingUploadsService } from '../../src/modules/recordings/recording-uploads.service.js';
import { SETTINGS } from '../../src/platform/config/settings.module.js';
import type { Settings } from '../../src/platform/config/settings.js';
import { ProductionDays } from '../../src/modules/production-days/production-days.service.js';
import { WebhooksService } from '../../src/modules/webhooks/webhooks.service.js';
import { Clock } from '../../src/platform/clock.js';
import { Database } from '../../src/platform/database/database.js';
import { Queue } from '../../src/platform/queue/queue.js';
import type { TestApp } from './test-app.js';

/** A call with words of the agent and the caller in turn, which ended a second ago. */
export const productionCall = (
  id: string,
  words: readonly string[],
  more: Partial<ProductionCall> = {},
): ProductionCall => ({
  ...{ id, startedAt: Date.now() - 60_000, endedAt: Date.now() - 1_000 },
  said: words.map((text, index) => ({
    ...{ speaker: index % 2 === 0 ? ('agent' as const) : ('caller' as const), text },
    ...{ startMs: index * 3_000 + 500, endMs: index * 3_000 + 2_500 },
  })),
  toolCalls: [],
  ...{ endedReason: 'customer-ended-call', latencies: { turn: [640, 1_900] }, recording: 'none' },
  ...{ attemptId: null, callerNumber: null },
  ...more,
});

const BOOKED = { name: 'book_table', arguments: { guests: 2 }, result: '{"booked":true}', startMs: 7_000 };
const ASKED = ['Good evening.', 'A table for two, please.'];

export const good = (id: string, more: Partial<ProductionCall> = {}) =>
  productionCall(id, [...ASKED, 'Your table is booked.'], { toolCalls: [BOOKED], ...more });
export const bad = (id: string, more: Partial<ProductionCall> = {}) => productionCall(id, [...ASKED, 'Goodbye.'], more);
export const question = (id: string) => productionCall(id, ['Good evening.', 'When are you open?', 'At six.']);

/** An evaluation that `good` passes and `bad` fails, and that is not about `question`. */
export const BOOKS = {
  ...{ key: 'books', name: 'Books the table', scenarioText: 'You want a table.', scope: 'both' },
  appliesTo: { type: 'says', speaker: 'caller', text: 'table' },
  checks: [
    { type: 'calls_tool', tool: 'book_table' },
    { type: 'no_personal_data', speaker: 'agent' },
  ],
};

/** Judges a call of an agent as if it were fetched. */
export const takeCall = (app: TestApp, agent: MonitoredAgent, call: ProductionCall): Promise<TakenCall> =>
  app.nest.get(ProductionDays, { strict: false }).take(agent, call);

/** What fetches in a process, and asks without pauses. @param wrap what it reads and writes by */
export function fetcherOf(app: TestApp, wrap: <T extends object>(target: T) => T = (target) => target): CallFetcher {
  const get = <T>(type: abstract new (...args: never[]) => T): T => app.nest.get(type, { strict: false });
  const [repository, clock, days] = [
    wrap(new MonitoringRepository(get(Database))),
    get(Clock),
    wrap(get(ProductionDays)),
  ];
  const settings = app.nest.get<Settings>(SETTINGS, { strict: false });
  const sounds = new SoundFetcher(repository, wrap(get(RecordingUploadsService)), clock, days, settings);
  const fetcher = new CallFetcher(
    ...([repository, get(AgentsService), get(ConnectionService), get(CapacityService)] as const),
    ...([get(WebhooksService), get(OutboundClient), sounds, clock, days, new Queue(get(Database))] as const),
  );
  return Object.assign(fetcher, { turn: () => Promise.resolve() });
}
