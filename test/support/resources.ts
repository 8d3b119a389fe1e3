import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { WebhookDeliveryEntity } from '../../src/modules/webhooks/webhook-delivery.entity.js';
import { WebhookPolicy } from '../../src/modules/webhooks/webhook-policy.js';
import { AGENT_PROVIDERS } from '../../src/platform/config/agent-providers.js';
import { EXAMPLE_ID } from '../../src/platform/http/dto/example-ids.js';
import { agentBody, personalityBody } from '../factories/bodies.js';
import { insertEvaluation, type Owner } from '../factories/rows.js';
import { HttpClient } from './http.js';

/** A workspace and an ADMIN key of it. */
export interface WorkspaceWithKey extends Owner {
  readonly apiKey: string;
}

/** The service that resources are made in. */
export interface Service {
  readonly url: string;
  readonly nest: INestApplicationContext;
}

/** Where nobody answers. */
const UNREACHABLE_URL = 'http://nowhere.invalid/v1';

/**
 * What the suites over all operations start the service with: no worker, so that no event leaves for the addresses of
 * the document's examples and no call is made, and all that a run needs in order to be started.
 */
export const WITHOUT_WORKER = {
  ROLE: 'api',
  LLM_BASE_URL: UNREACHABLE_URL,
  LLM_MODEL: 'none',
  ...Object.fromEntries(AGENT_PROVIDERS.map((provider) => [`${provider}_URL`, UNREACHABLE_URL])),
} as const;

/** Takes away what would only hold up the suites over all operations; both limits have tests of their own. */
export function withoutWebhookLimits({ nest }: Service): void {
  Object.assign(nest.get(WebhookPolicy), { testWait: 0, maxEndpoints: Number.MAX_SAFE_INTEGER });
}

/** `workspace/webhooks` for `/workspace/webhooks/{id}/test`: what the parameter of a path is one of. */
export function collectionOf(template: string): string {
  return template.slice(1).split(/\/\{|\/?$/, 1)[0] ?? '';
}

/**
 * How to make what the parameter of a path names, by its collection: every suite over all operations makes it from
 * here. A new collection is added here.
 */
const CREATE: Readonly<Record<string, (service: Service, subject: WorkspaceWithKey) => Promise<string>>> = {
  agents: (service, subject) => post(service, subject, '/agents', agentBody()),
  personalities: (service, subject) => post(service, subject, '/personalities', personalityBody()),
  evaluations: async (service, subject) =>
    (await insertEvaluation(managerOf(service), subject, await createResource(service, subject, 'agents'))).id,
  // Cancelled, because without a worker it would never end: nobody would wait for it to the last.
  runs: async (service, subject) => {
    const id = await startRun(service, subject, await createWithChildren(service, subject, 'agents'));
    expect((await new HttpClient(service.url, subject.apiKey).post(`/runs/${id}/cancel`)).status).toBe(200);
    return id;
  },
  calls: async (service, subject) => {
    const runId = await createResource(service, subject, 'runs');
    return (await new HttpClient(service.url, subject.apiKey).get(`/runs/${runId}/calls`)).body.data[0].id;
  },
  'workspace/api-keys': (service, subject) => post(service, subject, '/workspace/api-keys', { name: 'One more' }),
  'workspace/provider-keys': async ({ url }, { apiKey }) => {
    const provider = 'AGENT_PROVIDER_1';
    const body = { apiKey: 'default-key-1' };
    expect((await new HttpClient(url, apiKey).put(`/workspace/provider-keys/${provider}`, body)).status).toBe(200);
    return provider;
  },
  'workspace/webhooks': (service, subject) =>
    post(service, subject, '/workspace/webhooks', { url: 'https://example.com/hook', events: ['run.completed'] }),
  // Not pending any more, because a pending one cannot be redelivered.
  'workspace/webhook-deliveries': async (service, subject) => {
    const id = await sendTestEvent(service, subject, await createResource(service, subject, 'workspace/webhooks'));
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

/** What must be there below a resource for lists under it to have something to show, and for runs to be started. */
const ADD_CHILDREN: Readonly<
  Record<string, (service: Service, subject: WorkspaceWithKey, id: string) => Promise<unknown>>
> = {
  agents: async (service, subject, id) => {
    await insertEvaluation(managerOf(service), subject, id);
    await startRun(service, subject, id);
  },
  'workspace/webhooks': sendTestEvent,
};

/**
 * Collections whose members go by a name that every workspace has for its own, so that no request can name another
 * workspace's, and 403 never comes of it.
 */
export const NAMED_ALIKE: readonly string[] = ['workspace/provider-keys'];

export const collections: readonly string[] = Object.keys(CREATE);

/** Makes one of a collection. @returns what stands for it in a path */
export async function createResource(service: Service, subject: WorkspaceWithKey, collection: string): Promise<string> {
  const create = CREATE[collection];
  if (!create) throw new Error(`Nobody knows how to make one of /${collection}: add it to MAKE`);
  return create(service, subject);
}

/** The same, with something below it. */
export async function createWithChildren(
  service: Service,
  subject: WorkspaceWithKey,
  collection: string,
): Promise<string> {
  const id = await createResource(service, subject, collection);
  await ADD_CHILDREN[collection]?.(service, subject, id);
  return id;
}

/** Makes the resource that a path names by its parameter, with something below it, and fills it in. */
export async function pathFor(service: Service, subject: WorkspaceWithKey, template: string): Promise<string> {
  const parameter = /\{\w+\}/;
  if (!parameter.test(template)) return template;
  return template.replace(parameter, await createWithChildren(service, subject, collectionOf(template)));
}

/**
 * An example of the document with a personality that exists in place of the example's: the one reference in it that
 * nobody can have as it stands.
 */
export async function withExistingPersonality<T>(service: Service, subject: WorkspaceWithKey, example: T): Promise<T> {
  const text = JSON.stringify(example) as string | undefined;
  if (!text?.includes(EXAMPLE_ID.personality)) return example;
  const personalityId = await createResource(service, subject, 'personalities');
  return JSON.parse(text.replaceAll(EXAMPLE_ID.personality, personalityId)) as T;
}

const managerOf = ({ nest }: Service) => nest.get(DataSource).manager;

function startRun(service: Service, subject: WorkspaceWithKey, agentId: string): Promise<string> {
  return post(service, subject, `/agents/${agentId}/runs`, { name: 'Nightly' });
}

function sendTestEvent(service: Service, subject: WorkspaceWithKey, id: string): Promise<string> {
  return post(service, subject, `/workspace/webhooks/${id}/test`);
}

async function post({ url }: Service, { apiKey }: WorkspaceWithKey, path: string, body?: object): Promise<string> {
  const response = await new HttpClient(url, apiKey).post(path, body);
  expect(response).toMatchObject({ status: 201 });
  return response.body.data.id;
}
