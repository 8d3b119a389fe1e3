import {
  type ReferenceAgentServer,
  type ReferenceAgentServerOptions,
  referenceEvaluations,
  startReferenceAgent,
} from '../simulators/agent/index.js';
import { agentBody, personalityBody } from '../factories/bodies.js';
import { HttpClient } from './http.js';
import { createTestApp, type TestApp, type TestAppOptions } from './test-app.js';

/** A service and a reference agent that it can call. */
export interface RunApp extends TestApp {
  readonly agent: ReferenceAgentServer;
}

/** Settings that allow calls to an agent on this machine. */
export const callEnv = (url: string): NodeJS.ProcessEnv => ({
  AGENT_PROVIDER_1_URL: url,
  OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8',
});

/** Starts the reference agent and the service that reaches it as AGENT_PROVIDER_1. */
export async function createRunApp(
  agentOptions: Partial<ReferenceAgentServerOptions> = {},
  { env, ...options }: TestAppOptions = {},
): Promise<RunApp> {
  const agent = await startReferenceAgent({ port: 0, ...agentOptions });
  const app = await createTestApp({ ...options, env: { ...callEnv(`${agent.url}/v1/chat/completions`), ...env } });
  return {
    ...app,
    agent,
    close: async () => {
      await app.close();
      await agent.close();
    },
  };
}

/** Creates a workspace with an agent, a personality and the reference evaluations with the given keys. */
export async function prepareAgent(app: TestApp, keys: readonly string[], agentValues: object = {}) {
  const subject = await app.createWorkspace();
  const client = new HttpClient(app.url, subject.apiKey);
  const agentId: string = (await client.post('/agents', agentBody(agentValues))).body.data.id;
  const personalityId: string = (await client.post('/personalities', personalityBody())).body.data.id;
  const evaluations = new Map<string, string>();
  for (const evaluation of referenceEvaluations(personalityId).filter(({ key }) => keys.includes(key ?? ''))) {
    const response = await client.post(`/agents/${agentId}/evaluations`, evaluation);
    evaluations.set(evaluation.key ?? '', response.body.data.id);
  }
  return { ...subject, client, agentId, personalityId, evaluations };
}

/** An evaluation whose caller says one sentence; passes if the agent says "welcome". */
export const shortEvaluation = (values: object = {}) => ({
  name: 'Is greeted',
  scenarioText: 'You call and want to be greeted.',
  script: [{ say: 'Hello' }, { end: 'Greeted' }],
  checks: [{ name: 'Greets', type: 'says', text: 'welcome' }],
  ...values,
});

/** Creates a workspace with an agent, a personality and the given evaluations of the agent. */
export async function prepareEvaluations(
  app: TestApp,
  evaluations: readonly object[] = [shortEvaluation()],
  agentValues: object = {},
) {
  const subject = await app.createWorkspace();
  const client = new HttpClient(app.url, subject.apiKey);
  const agentId: string = (await client.post('/agents', agentBody(agentValues))).body.data.id;
  const personalityId: string = (await client.post('/personalities', personalityBody())).body.data.id;
  const evaluationIds: string[] = [];
  for (const evaluation of evaluations) {
    const response = await client.post(`/agents/${agentId}/evaluations`, { personalityId, ...evaluation });
    expect(response).toMatchObject({ status: 201 });
    evaluationIds.push(response.body.data.id);
  }
  return { ...subject, client, agentId, personalityId, evaluationIds };
}

/** Starts a run and waits for its end. */
export async function executeRun(client: HttpClient, agentId: string, body: object = {}): Promise<any> {
  const started = await client.post(`/agents/${agentId}/runs`, body);
  expect(started).toMatchObject({ status: 201 });
  const { id } = started.body.data;
  const ended = await client.get(`/runs/${id}?wait=60`);
  expect(ended).toMatchObject({ status: 200, body: { data: { endedAt: expect.any(String) } } });
  return ended.body.data;
}
