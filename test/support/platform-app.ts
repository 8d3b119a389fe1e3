import { callEnv, prepareEvaluations, shortEvaluation } from './run-app.js';
import { createTestApp, type TestApp } from './test-app.js';

interface Double {
  readonly url: string;
  stop(): Promise<unknown>;
}

export interface TestedAgent {
  /** Of the provider of the agent. */
  readonly protocol: string;
  readonly apiKey: string;
}

/** Makes services with an agent on the double of a platform, both of which end after each test. */
export function platformApps() {
  const doubles: Double[] = [];
  const apps: TestApp[] = [];
  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
    for (const double of doubles.splice(0)) await double.stop();
  });

  return async <D extends Double>(
    { protocol, apiKey }: TestedAgent,
    platform: D,
    evaluation: object = {},
    env: NodeJS.ProcessEnv = {},
  ) => {
    doubles.push(platform);
    const app = await createTestApp({
      env: { ...callEnv(platform.url), AGENT_PROVIDER_1_PROTOCOL: protocol, ...env },
    });
    apps.push(app);
    const prepared = await prepareEvaluations(app, [shortEvaluation(evaluation)], { apiKey });
    const { client, agentId } = prepared;
    const start = async (body: object): Promise<string> =>
      (await client.post(`/agents/${agentId}/runs`, body)).body.data.id as string;
    const callsOf = async (runId: string): Promise<any[]> => {
      const list = (await client.get(`/runs/${runId}/calls`)).body.data as { id: string }[];
      return Promise.all(list.map(async ({ id }) => (await client.get(`/calls/${id}`)).body.data));
    };
    const runOf = async (runId: string) => (await client.get(`/runs/${runId}`)).body.data;
    return { ...prepared, platform, app, start, callsOf, runOf };
  };
}
