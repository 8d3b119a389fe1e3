import { randomUUID } from 'node:crypto';
import { ToolCallsService } from '../../src/modules/tool-calls/tool-calls.service.js';
import { WebhookPolicy } from '../../src/modules/webhooks/webhook-policy.js';
import { operationNamed, type DocumentedOperation, type Prober } from './conformance.js';
import type { ExampleRequest } from './example-requests.js';
import { HttpClient } from './http.js';
import { createResource, importOpen, startReportedCall, type WorkspaceWithKey } from './resources.js';
import type { TestApp } from './test-app.js';

/** What is needed to provoke a response. */
export interface ProvokeContext {
  readonly app: TestApp;
  readonly owner: WorkspaceWithKey;
  readonly prober: Prober;
  /** Creates resources and returns a request on them that succeeds. */
  readonly request: (operation: DocumentedOperation, subject?: WorkspaceWithKey) => Promise<ExampleRequest>;
}

/** Responses that only one operation returns, and how to provoke each. */
export const SPECIAL_RESPONSES: readonly {
  readonly name: string;
  readonly expectResponse: (context: ProvokeContext) => Promise<void>;
}[] = [
  {
    name: 'POST /agents/{agentId}/runs returns 200 for a dry run',
    expectResponse: async ({ prober, request }) => {
      const operation = operationNamed('POST /agents/{agentId}/runs');
      const { body, ...rest } = await request(operation);
      const response = await prober.expect(operation, 200, { ...rest, body: { ...(body as object), dryRun: true } });
      expect(response.body.message).toBe('Run planned successfully; nothing was started');
    },
  },
  {
    name: 'POST /agents/{id}/calls/import returns 200 for a call that was imported before',
    expectResponse: async ({ prober, request }) => {
      const operation = operationNamed('POST /agents/{id}/calls/import');
      const valid = await request(operation);
      const first = await prober.expect(operation, 202, valid);
      const again = await prober.expect(operation, 200, valid);
      expect(again.body.data.id).toBe(first.body.data.id);
    },
  },
  {
    name: 'POST /tool-calls returns 404 for an unknown call and one of another workspace, and 409 for one that has ended',
    expectResponse: async ({ app, owner, prober }) => {
      const operation = operationNamed('POST /tool-calls');
      const send = (status: number, callId: string) =>
        prober.expect(operation, status, { path: '/tool-calls', key: owner.apiKey, body: { callId, name: 'book' } });
      for (const callId of ['x', randomUUID(), await startReportedCall(app, await app.createWorkspace())]) {
        const { body } = await send(404, callId);
        expect(body.issues).toEqual([
          { field: 'callId', message: expect.stringMatching(/^callId is that of no call/) },
        ]);
      }
      const callId = await startReportedCall(app, owner);
      await app.nest.get(ToolCallsService).take(callId);
      expect((await send(409, callId)).body.message).toContain('The call has ended');
    },
  },
  ...['GET /calls/{id}/recording', 'GET /calls/{id}/wire', 'GET /pages/{token}/calls/{callId}/recording'].map(
    (name) => ({
      name: `${name} returns 206, 304 and 416`,
      expectResponse: async ({ prober, request }: ProvokeContext) => {
        const operation = operationNamed(name);
        const valid = await request(operation);
        const send = (status: number, headers: Record<string, string>) =>
          prober.expect(operation, status, { ...valid, headers });
        const whole = await send(200, {});
        const part = await send(206, { Range: 'bytes=1-2' });
        expect(part.headers.get('content-range')).toMatch(/^bytes 1-2\/\d+$/);
        await send(304, { 'If-None-Match': whole.headers.get('etag') ?? '' });
        await send(416, { Range: 'bytes=1000000-' });
      },
    }),
  ),
  {
    name: 'PATCH /schedules/{id} returns 409 while the agent is deleted',
    expectResponse: async ({ app, owner, prober, request }) => {
      const operation = operationNamed('PATCH /schedules/{id}');
      const valid = await request(operation);
      const client = new HttpClient(app.url, owner.apiKey);
      await client.delete(`/agents/${(await client.get<any>(valid.path)).body.data.agentId}`);
      const { body } = await prober.expect(operation, 409, valid);
      expect(body.message).toBe('The agent of the schedule was deleted; restore it first');
    },
  },
  {
    name: 'PATCH /evaluations/{id} returns 409 for the key of another evaluation',
    expectResponse: async ({ app, owner, prober, request }) => {
      const client = new HttpClient(app.url, owner.apiKey);
      const { path, body } = await request(operationNamed('POST /agents/{agentId}/evaluations'));
      const values = body as object;
      const { body: one } = await client.post(path, { ...values, key: 'one' });
      const { body: two } = await client.post(path, { ...values, key: 'two' });
      const taken = { path: `/evaluations/${two.data.id}`, key: owner.apiKey, body: { key: one.data.key } };
      await prober.expect(operationNamed('PATCH /evaluations/{id}'), 409, taken);
    },
  },
  {
    name: 'DELETE /agents/{id} returns 409 to an erasure until the run of the agent has ended',
    expectResponse: async ({ app, owner, prober, request }) => {
      const { path, body } = await request(operationNamed('POST /agents/{agentId}/runs'));
      await new HttpClient(app.url, owner.apiKey).post(path, body);
      const erasure = { path: `${path.replace(/\/runs$/, '')}?permanently=true`, key: owner.apiKey };
      await prober.expect(operationNamed('DELETE /agents/{id}'), 409, erasure);
    },
  },
  {
    name: 'PUT /agents/{id}/connection returns 409 to the protocol of another platform beside a default key',
    expectResponse: async ({ app, owner, prober, request }) => {
      const operation = operationNamed('PUT /agents/{id}/connection');
      const { path, key } = await request(operation);
      const agent = path.replace('/connection', '');
      await new HttpClient(app.url, owner.apiKey).patch(agent, { isUsingDefaultApiKey: true });
      await prober.expect(operation, 409, { path, key, body: { protocol: 'openai-realtime' } });
    },
  },
  {
    name: 'PUT /agents/{id}/monitoring returns 409 for a protocol without records of calls',
    expectResponse: async ({ app, owner, prober, request }) => {
      const operation = operationNamed('PUT /agents/{id}/monitoring');
      const valid = await request(operation);
      const connection = { protocol: 'chat-completions', url: 'https://bot.example.com/v1/chat/completions' };
      const client = new HttpClient(app.url, owner.apiKey);
      await client.put(valid.path.replace('/monitoring', '/connection'), connection);
      const { body } = await prober.expect(operation, 409, valid);
      expect(body.message).toContain('POST /agents/{id}/calls/import');
    },
  },
  {
    name: 'DELETE /agents/{id}/calls returns 409 until the run of the call has ended',
    expectResponse: async ({ app, owner, prober, request }) => {
      const operation = operationNamed('DELETE /agents/{id}/calls');
      const { path, key } = await request(operation);
      const calls = path.split('?')[0]!;
      await importOpen(app, owner, calls, 'open');
      await prober.expect(operation, 409, { path: `${calls}?externalId=open`, key });
    },
  },
  {
    name: 'DELETE /runs/{id} returns 409 until the run has ended',
    expectResponse: async ({ app, owner, prober, request }) => {
      const { path, body } = await request(operationNamed('POST /agents/{agentId}/runs'));
      const { body: run } = await new HttpClient(app.url, owner.apiKey).post(path, body);
      const deletion = { path: `/runs/${run.data.id}`, key: owner.apiKey };
      await prober.expect(operationNamed('DELETE /runs/{id}'), 409, deletion);
    },
  },
  {
    name: 'GET /runs/{id}/comparison, /matrix, and the report with a comparison, return 409 until the run has ended',
    expectResponse: async ({ app, owner, prober, request }) => {
      const { path, body } = await request(operationNamed('POST /agents/{agentId}/runs'));
      const { body: run } = await new HttpClient(app.url, owner.apiKey).post(path, body);
      const comparison = { path: `/runs/${run.data.id}/comparison`, key: owner.apiKey };
      await prober.expect(operationNamed('GET /runs/{id}/comparison'), 409, comparison);
      const matrix = { path: `/runs/${run.data.id}/matrix`, key: owner.apiKey };
      await prober.expect(operationNamed('GET /runs/{id}/matrix'), 409, matrix);
      const report = { path: `/runs/${run.data.id}/report?with=${run.data.id}`, key: owner.apiKey };
      await prober.expect(operationNamed('GET /runs/{id}/report'), 409, report);
    },
  },
  {
    name: 'DELETE /workspace/api-keys/{id} returns 409 for the last ADMIN key',
    expectResponse: async ({ app, prober }) => {
      const { apiKey: key } = await app.createWorkspace();
      const { body } = await new HttpClient(app.url, key).get('/workspace/api-keys');
      const path = `/workspace/api-keys/${body.data[0].id}`;
      const response = await prober.expect(operationNamed('DELETE /workspace/api-keys/{id}'), 409, { path, key });
      expect(response.body.message).toBe('The last ADMIN key of a workspace cannot be revoked');
    },
  },
  {
    name: 'POST /workspace/webhook-deliveries/{id}/redeliver returns 409 for a pending delivery',
    expectResponse: async ({ prober, request }) => {
      const operation = operationNamed('POST /workspace/webhook-deliveries/{id}/redeliver');
      const again = await request(operation);
      await prober.expect(operation, 200, again);
      expect((await prober.expect(operation, 409, again)).body.message).toBe('The delivery is still pending');
    },
  },
  {
    name: 'POST /workspace/webhooks returns 409 at the maximum number of endpoints',
    expectResponse: async ({ app, prober, request }) => {
      const subject = await app.createWorkspace();
      const policy = app.nest.get(WebhookPolicy);
      const { maxEndpoints } = policy;
      await createResource(app, subject, 'workspace/webhooks');
      policy.maxEndpoints = 1;
      try {
        const operation = operationNamed('POST /workspace/webhooks');
        await prober.expect(operation, 409, await request(operation, subject));
      } finally {
        policy.maxEndpoints = maxEndpoints;
      }
    },
  },
];
