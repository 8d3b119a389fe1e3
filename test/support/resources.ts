import type { INestApplicationContext } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { ElevenLabsServer } from '../../libs/simulation/testing/elevenlabs.js';
import { ConnectionTestPolicy } from '../../src/modules/agents/connection/connection-test-policy.js';
import { CallEntity } from '../../src/modules/runs/call.entity.js';
import { ToolCallsService } from '../../src/modules/tool-calls/tool-calls.service.js';
import { RunEntity } from '../../src/modules/runs/run.entity.js';
import { ScheduleSlotEntity } from '../../src/modules/schedules/schedule-slot.entity.js';
import { WebhookDeliveryEntity } from '../../src/modules/webhooks/webhook-delivery.entity.js';
import { WebhookPolicy } from '../../src/modules/webhooks/webhook-policy.js';
import { AGENT_PROVIDERS } from '../../src/platform/config/agent-providers.js';
import { SETTINGS } from '../../src/platform/config/settings.module.js';
import type { Settings } from '../../src/platform/config/settings.js';
import { EXAMPLE_ID } from '../../src/platform/http/dto/example-ids.js';
import { agentBody, personalityBody, scheduleBody } from '../factories/bodies.js';
import { insertAlarm, insertCaseResult, insertEvaluation, insertReading, type Owner } from '../factories/rows.js';
import { HttpClient } from './http.js';
import { importCall } from './imported-calls.js';
import { insertRecording } from './recordings.js';
import { insertUnmetResult } from './unmet-calls.js';

/** A workspace with an ADMIN key. */
export interface WorkspaceWithKey extends Owner {
  readonly apiKey: string;
}

/** The service in which resources are created. */
export interface Service {
  readonly url: string;
  readonly nest: INestApplicationContext;
}

const UNREACHABLE_URL = 'http://nowhere.invalid/v1';

/**
 * Settings for the suites that cover all operations: no worker, so that no webhook is sent to the example addresses of
 * the document and no call is made, but everything that is needed to start a run.
 */
export const WITHOUT_WORKER = {
  ROLE: 'api',
  LLM_BASE_URL: UNREACHABLE_URL,
  // The reference agent of the connection's example.
  OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8',
  LLM_MODEL: 'none',
  ...Object.fromEntries(AGENT_PROVIDERS.map((provider) => [`${provider}_URL`, UNREACHABLE_URL])),
} as const;

/** Disables limits of webhooks and connection tests that would slow down the suites over all operations. They are tested elsewhere. */
export function withoutWebhookLimits({ nest }: Service): void {
  Object.assign(nest.get(ConnectionTestPolicy), { perMinute: Number.MAX_SAFE_INTEGER });
  Object.assign(nest.get(WebhookPolicy), { testWait: 0, maxEndpoints: Number.MAX_SAFE_INTEGER });
}

/** The collection that a path's parameter belongs to: `workspace/webhooks` for `/workspace/webhooks/{id}/test`. */
export function collectionOf(template: string): string {
  return template.slice(1).split(/\/\{|\/?$/, 1)[0] ?? '';
}

/**
 * How to create a member of each collection that a path parameter can name. The suites over all operations use it, so
 * that a new collection has to be added only here.
 */
const CREATE: Readonly<Record<string, (service: Service, workspace: WorkspaceWithKey) => Promise<string>>> = {
  agents: (service, workspace) => post(service, workspace, '/agents', agentBody()),
  personalities: (service, workspace) => post(service, workspace, '/personalities', personalityBody()),
  evaluations: async (service, workspace) =>
    (await insertEvaluation(managerOf(service), workspace, await createResource(service, workspace, 'agents'))).id,
  // Cancelled, because it would never end without a worker.
  runs: async (service, workspace) => {
    const agentId = await createWithChildren(service, workspace, 'agents');
    // Something to compare with.
    const previous = await cancelledRun(service, workspace, agentId);
    await managerOf(service).update(RunEntity, { id: previous }, { status: 'COMPLETED', exitCode: 0 });
    return cancelledRun(service, workspace, agentId);
  },
  calls: async (service, workspace) =>
    recordedCall(service, workspace, await createResource(service, workspace, 'runs')),
  schedules: async (service, workspace) => {
    const agentId = await createResource(service, workspace, 'agents');
    await insertEvaluation(managerOf(service), workspace, agentId);
    return post(service, workspace, `/agents/${agentId}/schedules`, scheduleBody());
  },
  // Named by the token of a link.
  reports: async (service, workspace) => {
    const runId = await createResource(service, workspace, 'runs');
    return (await createReportLink(service, workspace, runId)).url.split('/').at(-1);
  },
  pages: async (service, workspace) => {
    const agentId = await createWithChildren(service, workspace, 'agents');
    const token: string = (await createPageLink(service, workspace, agentId)).url.split('/').at(-1);
    agentsOfPages.set(token, agentId);
    return token;
  },
  'workspace/api-keys': (service, workspace) => post(service, workspace, '/workspace/api-keys', { name: 'One more' }),
  'workspace/provider-keys': async ({ url }, { apiKey }) => {
    const provider = 'AGENT_PROVIDER_1';
    const body = { apiKey: 'default-key-1' };
    expect((await new HttpClient(url, apiKey).put(`/workspace/provider-keys/${provider}`, body)).status).toBe(200);
    return provider;
  },
  providers: async ({ url, nest }, { apiKey }) => {
    const provider = await withAccount(nest.get<Settings>(SETTINGS));
    const body = { apiKey: 'default-key-4' };
    expect((await new HttpClient(url, apiKey).put(`/workspace/provider-keys/${provider}`, body)).status).toBe(200);
    return provider;
  },
  'workspace/webhooks': (service, workspace) =>
    post(service, workspace, '/workspace/webhooks', { url: 'https://example.com/hook', events: ['run.completed'] }),
  // Delivered, because a pending one cannot be redelivered.
  'workspace/webhook-deliveries': async (service, workspace) => {
    const id = await sendTestEvent(service, workspace, await createResource(service, workspace, 'workspace/webhooks'));
    await managerOf(service).update(
      WebhookDeliveryEntity,
      { id },
      {
        status: 'DELIVERED',
        nextAttemptAt: null,
        tries: 1,
        attempts: [{ time: new Date().toISOString(), responseStatus: 204, durationMs: 12, error: null }],
      },
    );
    return id;
  },
};

/** Creates children of a resource, so that lists below it are not empty and runs can be started. */
const ADD_CHILDREN: Readonly<
  Record<string, (service: Service, workspace: WorkspaceWithKey, id: string) => Promise<unknown>>
> = {
  agents: async (service, workspace, id) => {
    await insertEvaluation(managerOf(service), workspace, id);
    await insertAlarm(managerOf(service), workspace, id);
    await insertReading(managerOf(service), workspace, id);
    await startRun(service, workspace, id);
  },
  'workspace/webhooks': sendTestEvent,
  schedules: async (service, _, scheduleId) => {
    const at = new Date();
    const slot = {
      id: randomUUID(),
      scheduleId,
      outcome: 'missed',
      fromAt: at,
      toAt: at,
      count: 1,
      runId: null,
    } as const;
    await managerOf(service).insert(ScheduleSlotEntity, slot);
  },
};

/** Agents by the token of a link to their page. */
const agentsOfPages = new Map<string, string>();

/** How to create a member of each collection below a resource that has a path of its own below that. */
const CREATE_BELOW: Readonly<
  Record<string, (service: Service, workspace: WorkspaceWithKey, parentId: string) => Promise<string>>
> = {
  'report-links': async (service, workspace, runId) => (await createReportLink(service, workspace, runId)).id,
  alarms: async (service, workspace, agentId) => (await insertAlarm(managerOf(service), workspace, agentId)).id,
  // Of the agent whose page the token opens.
  runs: (service, workspace, token) => cancelledRun(service, workspace, agentsOfPages.get(token) ?? ''),
  calls: async (service, workspace, token) =>
    recordedCall(service, workspace, await cancelledRun(service, workspace, agentsOfPages.get(token) ?? '')),
  'page-links': async (service, workspace, agentId) => (await createPageLink(service, workspace, agentId)).id,
  cases: async (service, workspace, agentId) =>
    (await insertCaseResult(managerOf(service), workspace, agentId)).caseKey,
};

/**
 * Collections whose members have the same names in every workspace, so that no request can refer to another workspace's
 * member and get 403.
 */
export const NAMED_ALIKE: readonly string[] = ['workspace/provider-keys', 'providers'];

export const collections: readonly string[] = Object.keys(CREATE);

/** Creates a member of a collection. @returns its id or name in a path */
export async function createResource(
  service: Service,
  workspace: WorkspaceWithKey,
  collection: string,
): Promise<string> {
  const create = CREATE[collection];
  if (!create)
    throw new Error(
      `Cannot create a member of /${collection}: add the collection to CREATE in test/support/resources.ts`,
    );
  return create(service, workspace);
}

/** Creates a member of a collection with children. */
export async function createWithChildren(
  service: Service,
  workspace: WorkspaceWithKey,
  collection: string,
): Promise<string> {
  const id = await createResource(service, workspace, collection);
  await ADD_CHILDREN[collection]?.(service, workspace, id);
  return id;
}

/** Returns the path with its parameters replaced by the ids of newly created resources with children. */
export async function pathFor(service: Service, workspace: WorkspaceWithKey, template: string): Promise<string> {
  const parameter = /\{\w+\}/;
  if (!parameter.test(template)) return template;
  const id = await createWithChildren(service, workspace, collectionOf(template));
  const path = template.replace(parameter, id);
  if (template.endsWith('/restore')) {
    expect((await new HttpClient(service.url, workspace.apiKey).delete(path.replace('/restore', ''))).status).toBe(200);
  }
  if (template === '/calls/{id}/evaluation') await insertUnmetResult(service.nest, id);
  if (/\/monitoring(\/|$)/.test(template)) {
    await monitor(new HttpClient(service.url, workspace.apiKey), `/agents/${id}`);
  }
  // Only recorded calls can be measured again, and only calls with criteria can be judged again.
  if (/\/(remeasure|rejudge)$/.test(template)) {
    const client = new HttpClient(service.url, workspace.apiKey);
    const { body } = await client.get(`/runs/${id}/calls`);
    const [call] = body.data;
    await insertRecording(service.nest, call.id, { result: {} });
    await client.patch(`/evaluations/${call.evaluationId}`, { criteria: [{ text: 'The agent is polite.' }] });
  }
  const [, below] = /([\w-]+)\/\{\w+\}/.exec(path) ?? [];
  if (below === undefined) return path;
  const create = CREATE_BELOW[below];
  if (!create) throw new Error(`Cannot create a member of ${path}: add ${below} to CREATE_BELOW`);
  return path.replace(parameter, await create(service, workspace, id));
}

/** The path of a request that succeeds, with the query that it needs. */
export async function requestPath(
  service: Service,
  workspace: WorkspaceWithKey,
  { name, template }: { readonly name: string; readonly template: string },
): Promise<string> {
  const path = await pathFor(service, workspace, template);
  if (name !== 'DELETE /agents/{id}/calls') return path;
  await importDeletable(service, workspace, path, 'call-1');
  return `${path}?externalId=call-1`;
}

/** Imports a call, and cancels its run, which would not end without a worker. @param path of the calls of an agent */
export async function importDeletable(
  service: Service,
  workspace: WorkspaceWithKey,
  path: string,
  externalId: string,
): Promise<void> {
  const runId = await importOpen(service, workspace, path, externalId);
  await new HttpClient(service.url, workspace.apiKey).post(`/runs/${runId}/cancel`);
}

/** Imports a call. @param path of the calls of an agent @returns its run */
export async function importOpen(
  service: Service,
  { apiKey }: WorkspaceWithKey,
  path: string,
  externalId: string,
): Promise<string> {
  const client = new HttpClient(service.url, apiKey);
  const agentId = path.split('/')[2]!;
  const { body: evaluations } = await client.get(`/agents/${agentId}/evaluations`);
  const transcript = ['caller', 'agent'].map((speaker, at) => ({
    ...{ speaker, text: 'Good evening', startMs: at * 1_000, endMs: at * 1_000 + 500 },
  }));
  const given = { recording: null, channels: null, evaluationId: evaluations.data[0].id, transcript, externalId };
  const { status, body } = await importCall({ url: service.url, apiKey }, agentId, {
    ...{ ...given, startedAt: '2026-11-20T09:30:00.000Z' },
  });
  expect({ status, body }).toMatchObject({ status: 202 });
  return body.data.runId;
}

/**
 * Replaces the personality id in an example of the document by that of an existing personality, and the call id by that of a
 * call in progress.
 */
export async function withExistingPersonality<T>(
  service: Service,
  workspace: WorkspaceWithKey,
  example: T,
  path = '',
): Promise<T> {
  let text = JSON.stringify(example) as string | undefined;
  // Calls are fetched from at most 30 days ago.
  if (path.endsWith('/monitoring/backfill'))
    text = JSON.stringify({ from: new Date(Date.now() - 1_000).toISOString() });
  if (text?.includes(EXAMPLE_ID.personality)) {
    text = text.replaceAll(EXAMPLE_ID.personality, await createResource(service, workspace, 'personalities'));
  }
  if (text?.includes(EXAMPLE_ID.call)) {
    text = text.replaceAll(EXAMPLE_ID.call, await startReportedCall(service, workspace));
  }
  const [, agentId] = /^\/agents\/([^/]+)\/calls\//.exec(path) ?? [];
  if (agentId !== undefined && text?.includes(EXAMPLE_ID.evaluation)) {
    const { body } = await new HttpClient(service.url, workspace.apiKey).get(`/agents/${agentId}/evaluations`);
    text = text.replaceAll(EXAMPLE_ID.evaluation, body.data?.[0]?.id ?? EXAMPLE_ID.evaluation);
  }
  return text === undefined ? example : (JSON.parse(text) as T);
}

/** A call that seems to be in progress over a connection with reported tool calls. @returns the id that the agent received */
export async function startReportedCall(service: Service, workspace: WorkspaceWithKey): Promise<string> {
  const id = await createResource(service, workspace, 'calls');
  const claimId = randomUUID();
  const running = { status: 'RUNNING', claimId, leaseUntil: new Date(Date.now() + 3_600_000), outcome: null } as const;
  await managerOf(service).update(CallEntity, { id }, running);
  await service.nest.get(ToolCallsService).start({ claimId, id, workspaceId: workspace.workspaceId });
  return claimId;
}

/** Calls of the agent are fetched from a platform that does not answer. @param path of the agent */
async function monitor(client: HttpClient, path: string): Promise<void> {
  const connection = { protocol: 'vapi', url: 'http://127.0.0.1:9/' };
  expect(await client.put(`${path}/connection`, connection)).toMatchObject({ status: 200 });
  expect(await client.patch(path, { callMonitoring: true })).toMatchObject({ status: 200 });
}

let platform: Promise<ElevenLabsServer> | undefined;

/** A provider whose platform has an account with an assistant. It ends with the process. */
async function withAccount({ agentProviders }: Settings): Promise<string> {
  platform ??= ElevenLabsServer.start({ agents: [{ id: 'assistant-1', name: 'Bella Vista reservations' }] });
  const { url } = await platform;
  Object.assign(agentProviders.AGENT_PROVIDER_4, { protocol: 'elevenlabs', url, isVendors: false });
  return 'AGENT_PROVIDER_4';
}

const managerOf = ({ nest }: Service) => nest.get(DataSource).manager;

function startRun(service: Service, workspace: WorkspaceWithKey, agentId: string): Promise<string> {
  return post(service, workspace, `/agents/${agentId}/runs`, { name: 'Nightly' });
}

/** Cancels the runs of an agent, which would otherwise not end without a worker. @param path of the agent */
export async function cancelRuns({ url }: Service, { apiKey }: WorkspaceWithKey, path: string): Promise<void> {
  const client = new HttpClient(url, apiKey);
  for (const { id } of (await client.get(`${path}/runs`)).body.data) await client.post(`/runs/${id}/cancel`);
}

async function cancelledRun(service: Service, workspace: WorkspaceWithKey, agentId: string): Promise<string> {
  const id = await startRun(service, workspace, agentId);
  expect((await new HttpClient(service.url, workspace.apiKey).post(`/runs/${id}/cancel`)).status).toBe(200);
  return id;
}

async function recordedCall(service: Service, { apiKey }: WorkspaceWithKey, runId: string): Promise<string> {
  const { body } = await new HttpClient(service.url, apiKey).get(`/runs/${runId}/calls`);
  const [{ id }] = body.data;
  await insertRecording(service.nest, id);
  return id;
}

const createReportLink = (service: Service, workspace: WorkspaceWithKey, runId: string) =>
  createLink(service, workspace, `/runs/${runId}/report-links`);
const createPageLink = (service: Service, workspace: WorkspaceWithKey, agentId: string) =>
  createLink(service, workspace, `/agents/${agentId}/page-links`);

async function createLink({ url }: Service, { apiKey }: WorkspaceWithKey, path: string): Promise<any> {
  const response = await new HttpClient(url, apiKey).post<any>(path, { expiresInHours: 1, includeRecordings: true });
  expect(response).toMatchObject({ status: 201 });
  return response.body.data;
}

function sendTestEvent(service: Service, workspace: WorkspaceWithKey, id: string): Promise<string> {
  return post(service, workspace, `/workspace/webhooks/${id}/test`);
}

async function post({ url }: Service, { apiKey }: WorkspaceWithKey, path: string, body?: object): Promise<string> {
  const response = await new HttpClient(url, apiKey).post(path, body);
  expect(response).toMatchObject({ status: 201 });
  return response.body.data.id;
}
