import { type ReferenceAgentServer, startReferenceAgent } from '../simulators/agent/index.js';
import { EXAMPLE_ID, KIND_OF_COLLECTION } from '../../src/platform/http/dto/example-ids.js';
import { committedDocument, type ExampleBody, operations } from '../support/conformance.js';
import { HttpClient } from '../support/http.js';
import { callEnv } from '../support/run-app.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

/** The address of the connection's example: the reference agent's default port, which may be taken here. */
const AGENT_ADDRESS = 'http://127.0.0.1:4010';

/** Operations last that would take away what others need, in this order. */
const LAST = [
  'revokeApiKey',
  'deleteProviderKey',
  'deleteWebhook',
  'deleteConnection',
  'deleteSchedule',
  'deleteRun',
  'deleteEvaluation',
  'deletePersonality',
  'deleteAgent',
  'restoreAgent',
];

/** Statuses other than success that an example gets for a reason. */
const EXPECTED: Readonly<Record<string, number>> = {
  // The example's endpoint does not exist, so the delivery waits for its next attempt.
  redeliverWebhook: 409,
  // The link's address contains a token that no example can know.
  getSharedReport: 404,
  getSharedPage: 404,
  getSharedPageRun: 404,
  getSharedRecording: 404,
  // The call of the examples is a text call; test/realtime/voice-calls.test.ts downloads both.
  getRecording: 404,
  getWireLog: 404,
  // The agent of the examples has no platform that keeps records; test/e2e/monitoring.test.ts has one.
  putMonitoring: 409,
  backfillMonitoring: 409,
  // An alarm needs more than 20 nights; test/e2e/alarms.test.ts has some.
  acceptAlarm: 404,
  // Likewise, it has no recording.
  remeasureRun: 409,
  importCall: 202,
  // The call of the example is imported after this.
  deleteImportedCall: 404,
  // The connection of the examples lacks the option `toolCalls`, and the call has ended.
  reportToolCall: 404,
  // Every check was met.
  promoteCall: 409,
  // No language model is configured.
  rejudgeRun: 409,
  // The provider's agents are reached over chat completions, which has no list of them.
  listAssistants: 409,
  // The run has ended.
  cancelRun: 409,
};

describe('the examples of the OpenAPI document', () => {
  let agent: ReferenceAgentServer;
  let app: TestApp;
  let client: HttpClient;
  const known = new Map<string, string>();

  beforeAll(async () => {
    agent = await startReferenceAgent({ port: 0 });
    app = await createTestApp({ env: callEnv('http://127.0.0.1:1/') });
    client = new HttpClient(app.url, (await app.createWorkspace()).apiKey);
  });
  afterAll(() => Promise.all([app.close(), agent.close()]));

  /** As the page does: ids of examples become those of the newest resources. */
  const substituted = (text: string): string =>
    [...known]
      .reduce((result, [example, id]) => result.replaceAll(example, id), text)
      .replace(AGENT_ADDRESS, agent.url);

  async function execute({ method, template, operation, bodies }: (typeof operations)[number]) {
    let path = template;
    for (const parameter of operation.parameters ?? []) {
      if (parameter.in === 'path') path = path.replace(`{${parameter.name}}`, String(parameter.example));
    }
    // The page fills a field with its example, else its default.
    const query = new URLSearchParams(
      (operation.parameters ?? []).flatMap(({ in: place, name, example, schema }) => {
        const shown = schema as { example?: string; default?: string | number } | undefined;
        const value = (example as string | undefined) ?? shown?.example ?? shown?.default;
        return place === 'query' && value !== undefined ? [[name, String(value)] as [string, string]] : [];
      }),
    );
    const [example] = bodies;
    const body = example && (typeof example.value === 'string' ? example.value : JSON.stringify(example.value));
    const response = await client.send<any>(
      method,
      substituted(query.size > 0 ? `${path}?${query.toString()}` : path),
      body === undefined ? undefined : sendable(substituted(body), example),
      example && { 'Content-Type': example.mediaType },
    );
    const data: any = response.body?.data;
    const kind = KIND_OF_COLLECTION[path.split('/').at(-1)!];
    const newest = Array.isArray(data) ? data[0] : data;
    if (kind !== undefined && response.status < 300 && newest?.id) known.set(EXAMPLE_ID[kind], newest.id);
    return { status: response.status, data, text: JSON.stringify(response.body) };
  }

  /** A form is made of an object. */
  const sendable = (text: string, example: ExampleBody | undefined): unknown =>
    example?.mediaType === 'multipart/form-data' ? JSON.parse(text) : text;

  const find = (id: string) => operations.find(({ operation }) => operation.operationId === id)!;

  it('work after the two steps of the introduction, and the evaluation passes with the reference agent', async () => {
    const executed: string[] = [];
    const run = async (id: string) => {
      executed.push(id);
      const { status, data, text } = await execute(find(id));
      const expected = EXPECTED[id];
      const holds = expected === undefined ? status === 200 || status === 201 : status === expected;
      expect({ id, status, text: holds ? '' : text }).toEqual({ id, status: expected ?? status, text: '' });
      return data;
    };
    for (const id of ['createPersonality', 'createAgent', 'putConnection', 'createEvaluation']) await run(id);
    // The second one can be compared with the first.
    for (const first of ['startRun', 'getReport', 'startRun']) {
      const started = await run(first);
      if (first !== 'startRun') continue;
      const { body } = await client.get(`/runs/${started.id}?wait=60`);
      expect(body.data).toMatchObject({ status: 'COMPLETED', reasons: [], counts: { passed: 3 } });
    }

    // Before the operations whose paths name their results.
    const first = [
      'createWebhook',
      'createApiKey',
      'putProviderKey',
      'listCalls',
      'testWebhook',
      'listWebhookDeliveries',
    ];
    for (const operation of first) await run(operation);
    const rest = operations
      .map(({ operation }) => operation.operationId)
      .filter((operation) => !executed.includes(operation) && !LAST.includes(operation));
    for (const operation of [...rest, ...LAST]) await run(operation);
    expect(new Set(executed).size).toBe(operations.length);
  });

  it('replaces no key of an agent in an example', () => {
    const bodies = operations.flatMap((operation) => operation.bodies.map(({ value }) => JSON.stringify(value)));
    expect(bodies.filter((body) => /authorization/i.test(body))).toEqual([]);
  });

  it('has an example for each body and each parameter of a path', () => {
    const missing = operations.flatMap(({ operation }) =>
      (operation.parameters ?? [])
        .filter((parameter) => parameter.in === 'path' && parameter.example === undefined)
        .map(({ name }) => `${operation.operationId}: ${name}`),
    );
    expect(missing).toEqual([]);
  });

  it('are in documents whose paths have a place in the order of use', async () => {
    const { PATHS } = await import('../../src/platform/openapi/order.js');
    expect(Object.keys(committedDocument.paths).filter((path) => !PATHS.includes(path))).toEqual([]);
  });

  it('names every alternative of a schema', () => {
    const unnamed: string[] = [];
    const walk = (node: unknown, path: string): void => {
      if (typeof node !== 'object' || node === null) return;
      for (const [key, value] of Object.entries(node)) {
        if (key === 'example' || key === 'examples') continue;
        if ((key === 'oneOf' || key === 'anyOf') && Array.isArray(value)) {
          value.forEach((one, index) => {
            if (!('$ref' in one) && one.title === undefined) unnamed.push(`${path}.${key}.${index}`);
          });
        }
        walk(value, `${path}/${key}`);
      }
    };
    walk(committedDocument.components, '');
    expect(unnamed).toEqual([]);
  });
});
