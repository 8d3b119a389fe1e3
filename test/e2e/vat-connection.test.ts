import { randomUUID } from 'node:crypto';
import { agentBody } from '../factories/bodies.js';
import { HttpClient } from '../support/http.js';
import { type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { vat } from '../support/vat.js';

describe('vat connection test', () => {
  let app: TestApp;
  let agent: ScriptedAgent;
  let client: HttpClient;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    agent = await startScriptedAgent(({ model, response }) =>
      model === 'broken' ? void response.writeHead(401).end('no\u001b[31m such token') : 'Welcome!',
    );
    app = await createTestApp({ env: { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32' } });
    const { apiKey } = await app.createWorkspace();
    client = new HttpClient(app.url, apiKey);
    env = { VAT_URL: app.url, VAT_API_KEY: apiKey };
  });
  afterAll(async () => {
    await app.close();
    await agent.close();
  });

  const test = (id: string) => vat(['connection', 'test', '--agent', id], env);
  const createAgent = async (assistantId: string): Promise<string> => {
    const { id } = (await client.post<any>('/agents', agentBody({ assistantId }))).body.data;
    await client.put(`/agents/${id}/connection`, { url: agent.url });
    return id;
  };

  it('prints every step and exits with 0 if the agent can be called', async () => {
    const { code, stdout } = await test(await createAgent('assistant-1'));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^passed +Address resolved .* ms /m);
    expect(stdout).toMatch(/^skipped +TLS /m);
    expect(stdout).toMatch(/^passed +First words .*\n +It said: Welcome!$/m);
    expect(stdout).toContain('The agent can be called.');
  });

  it('prints what the agent said and a cure, and exits with 2, if a step failed', async () => {
    const { code, stdout } = await test(await createAgent('broken'));
    expect(code).toBe(2);
    expect(stdout).toMatch(/^failed +Accepted .*HTTP 401.*\n +It said: no.*such token\n +Cure: .*Authorization/m);
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toContain('The agent cannot be called.');
  });

  it('exits with 3 for an unknown agent, an agent without an address, or no agent', async () => {
    const { id } = (await client.post<any>('/agents', agentBody())).body.data;
    for (const [args, message] of [
      [['--agent', randomUUID()], '404'],
      [['--agent', id], 'AGENT_PROVIDER_1_URL'],
      [[], '--agent'],
    ] as const) {
      const { code, stderr } = await vat(['connection', 'test', ...args], env);
      expect([code, stderr]).toEqual([3, expect.stringContaining(message)]);
    }
  });
});
