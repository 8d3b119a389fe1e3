import { sendCompletion, TestServers } from '../simulators/servers.js';
import { callEnv, executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

interface Asked {
  readonly authorization: string | undefined;
  readonly model: string;
  /** The statement to judge; absent when the model plays the caller. */
  readonly statement: string | undefined;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

describe('runs with a language model', () => {
  const servers = new TestServers();
  let app: TestApp;
  let agent: ScriptedAgent;
  const asked: Asked[] = [];
  let isRefusing = false;
  let keepsRole = true;

  /** As caller: says good day, then thanks and hangs up. As judge: confirms only that the agent greets. */
  function reply({ statement, messages }: Asked): object {
    if (statement === undefined) {
      const turn = messages.filter(({ role }) => role === 'assistant').length;
      return turn === 0
        ? { say: 'Good day, I am calling for a greeting.', end: null }
        : { say: 'Thank you, goodbye.', end: 'I was greeted' };
    }
    if (statement.startsWith('The caller keeps its role')) {
      return { reasoning: 'It speaks as a caller.', quote: 'Good day, I am calling', met: keepsRole };
    }
    return { reasoning: 'The words show it.', quote: 'Welcome!', met: /greets/.test(statement) };
  }

  beforeAll(async () => {
    const model = await servers.http((response, { messages, model: name }, { headers }) => {
      if (isRefusing) return void response.writeHead(401).end();
      const found = /^Statement: (.*)$/m.exec(messages[1]?.content ?? '')?.[1];
      const isJudge = messages[0].content.startsWith('You judge');
      const question: Asked = {
        authorization: headers.authorization,
        model: name,
        statement: isJudge ? (JSON.parse(found ?? '""') as string) : undefined,
        messages,
      };
      asked.push(question);
      sendCompletion(response, JSON.stringify(reply(question)));
    });
    agent = await startScriptedAgent();
    app = await createTestApp({
      env: {
        ...callEnv(agent.url),
        LLM_BASE_URL: `${model}/v1`,
        LLM_MODEL: 'stub-1',
        LLM_API_KEY: 'llm-key-of-the-service',
      },
    });
  });
  beforeEach(() => {
    asked.length = 0;
    isRefusing = false;
    keepsRole = true;
  });
  afterAll(async () => {
    await app.close();
    await agent.close();
    await servers.close();
  });

  const free = (values: object = {}) => shortEvaluation({ script: [], checks: [], ...values });
  const onlyCall = async ({ client }: { client: any }, runId: string): Promise<any> => {
    const [{ id }] = (await client.get(`/runs/${runId}/calls`)).body.data;
    return (await client.get(`/calls/${id}`)).body.data;
  };

  it('plays the caller by the scenario and personality as of the start', async () => {
    const prepared = await prepareEvaluations(app, [free({ scenarioText: 'You want to be greeted by a baker.' })]);
    const run = await executeRun(prepared.client, prepared.agentId);
    expect(run).toMatchObject({ status: 'COMPLETED', score: 100 });
    const call = await onlyCall(prepared, run.id);
    const said = call.timeline.filter(({ type }: any) => type === 'speech').map(({ text }: any) => text);
    expect(said).toEqual(['Good day, I am calling for a greeting.', 'Welcome!', 'Thank you, goodbye.', 'Welcome!']);
    expect(call.end).toMatchObject({ by: 'caller', reason: 'I was greeted' });
    expect(asked[0]?.messages[0]?.content).toContain('greeted by a baker');
    expect(asked[0]).toMatchObject({ model: 'stub-1', authorization: 'Bearer llm-key-of-the-service' });
  });

  it('judges criteria twice, with a quote as evidence', async () => {
    const criteria = [{ text: 'The agent greets.' }, { text: 'The agent sings.', weight: 3, required: false }];
    const prepared = await prepareEvaluations(app, [shortEvaluation({ checks: [], criteria })]);
    const run = await executeRun(prepared.client, prepared.agentId, { minimumScore: 25 });
    expect(run).toMatchObject({ status: 'COMPLETED', score: 25 });
    const { criteria: results } = await onlyCall(prepared, run.id);
    expect(results).toMatchObject([
      { text: 'The agent greets.', verdict: 'met', evidence: { quote: 'Welcome!' }, disagreement: false },
      { text: 'The agent sings.', verdict: 'not_met', evidence: { quote: 'Welcome!' } },
    ]);
    expect(results.map(({ samples }: any) => samples.length)).toEqual([2, 2]);
  });

  it('names failed criteria in the event of a critical evaluation and in the reason', async () => {
    const prepared = await prepareEvaluations(app, [
      shortEvaluation({ critical: true, criteria: [{ text: 'The agent sings.' }] }),
    ]);
    const run = await executeRun(prepared.client, prepared.agentId);
    expect(run).toMatchObject({ status: 'FAILED', counts: { failed: 1 } });
    expect((await onlyCall(prepared, run.id)).reason).toMatch(/The agent sings\. \(The words show it/);
  });

  it('retries a call whose caller breaks its role twice and never counts it', async () => {
    keepsRole = false;
    const prepared = await prepareEvaluations(app, [free()]);
    const run = await executeRun(prepared.client, prepared.agentId);
    expect(run).toMatchObject({ status: 'FAILED', counts: { passed: 0, failed: 0, invalid: 1 } });
    const call = await onlyCall(prepared, run.id);
    expect(call).toMatchObject({ outcome: 'invalid', score: null, invalidity: { code: 'left_role' } });
    expect(call.attempts.map(({ outcome }: any) => outcome)).toEqual(['invalid', 'invalid', 'invalid']);
  });

  it('reports a model that refuses as an error of the tester, not of the agent', async () => {
    isRefusing = true;
    const prepared = await prepareEvaluations(app, [free()]);
    const run = await executeRun(prepared.client, prepared.agentId);
    expect(run).toMatchObject({ status: 'FAILED', counts: { failed: 0, error: 1 } });
    const call = await onlyCall(prepared, run.id);
    expect(call.failure).toMatchObject({ code: 'llm_refused', fault: 'infrastructure' });
    expect(JSON.stringify(call)).not.toContain('llm-key');
  });
});
