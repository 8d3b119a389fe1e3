import { TestServers } from '../simulators/servers.js';
import { startToolAgent } from '../simulators/agent/testing/tool-agent.js';
import { callEnv, executeRun, prepareEvaluations } from '../support/run-app.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const EVALUATION = {
  name: 'Books the first free time',
  scenarioText: 'You want a table.',
  script: [{ say: 'A table for {{people}}, please.' }, { end: 'Booked' }],
  variables: [{ people: 4 }, { people: 6 }],
  toolResults: [
    { tool: 'find_table', arguments: { people: 4 }, result: { times: ['19:30'] } },
    { tool: 'find_table', result: { times: ['21:00'] } },
    { tool: 'book_table', result: { reference: 'QX7' } },
  ],
  checks: [
    { type: 'calls_tool', tool: 'book_table', arguments: { time: '19:30' }, required: false },
    { type: 'says', text: 'QX7' },
  ],
};

describe('tool results and language in runs', () => {
  const servers = new TestServers();
  let app: TestApp;

  beforeAll(async () => {
    app = await createTestApp({ env: callEnv(await startToolAgent(servers)) });
  });
  afterAll(async () => {
    await app.close();
    await servers.close();
  });

  it('are stored with the run: the agent gets the results, and the call and the report show both', async () => {
    const { client, agentId, evaluationIds } = await prepareEvaluations(app, [{ ...EVALUATION, language: 'de-at' }]);
    const run = await executeRun(client, agentId);
    // Later changes do not affect the run.
    await client.patch(`/evaluations/${evaluationIds[0]}`, { language: null, toolResults: [] });
    const calls = (await client.get(`/runs/${run.id}/calls`)).body.data;
    expect(calls.map(({ outcome, score }: any) => [outcome, score])).toEqual([
      ['passed', 100],
      ['passed', 50],
    ]);
    const { data } = (await client.get(`/calls/${calls[0].id}`)).body;
    expect(data.evaluation).toMatchObject({ language: 'de-AT', definition: { toolResults: EVALUATION.toolResults } });
    expect(data.timeline.map(({ result }: any) => result)).toEqual([
      undefined,
      { times: ['19:30'] },
      { reference: 'QX7' },
      undefined,
      undefined,
    ]);
    const { body: page } = await client.get(`/runs/${run.id}/report`);
    expect(page).toMatch(/<span class="words" dir="auto" lang="de-AT"\s*>A table for 4, please\.<\/span/);
    expect(page).toContain('Result <code>{&#34;times&#34;:[&#34;19:30&#34;]}</code>');
    const again = await client.post(`/runs/${run.id}/rerun`, undefined);
    const ended = await client.get(`/runs/${again.body.data.id}?wait=60`);
    expect(ended.body.data.counts).toMatchObject({ passed: 2 });
  });

  it('come after a history, which the call shows as given, and which other protocols refuse before the run', async () => {
    const history = [{ agent: 'Good evening, {{people}}?' }, { caller: 'Yes.' }];
    const { client, agentId, evaluationIds } = await prepareEvaluations(app, [{ ...EVALUATION, history }]);
    const { body } = await client.get(`/evaluations/${evaluationIds[0]}`);
    expect(body.data.history).toEqual(history);
    const run = await executeRun(client, agentId);
    const [call] = (await client.get(`/runs/${run.id}/calls`)).body.data;
    const { timeline } = (await client.get(`/calls/${call.id}`)).body.data;
    expect(timeline.slice(0, 3)).toMatchObject([
      { type: 'given', line: { agent: 'Good evening, 4?' }, turn: 0 },
      { type: 'given', line: { caller: 'Yes.' } },
      { type: 'speech', speaker: 'caller' },
    ]);
    const { body: page } = await client.get(`/runs/${run.id}/report`);
    expect(page).toMatch(/<li class="given"[^]*?Before the call, agent:<\/b> Good evening, 4\?/);
    await client.put(`/agents/${agentId}/connection`, { protocol: 'vapi-chat', url: 'https://api.vapi.ai' });
    const refused = await client.post(`/agents/${agentId}/runs`, {});
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      409,
      expect.stringContaining('it has a history, which vapi-chat does not take'),
    ]);
    await client.patch(`/evaluations/${evaluationIds[0]}`, { history: [] });
    expect((await client.get(`/evaluations/${evaluationIds[0]}`)).body.data.history).toEqual([]);
  });

  it('are compared with the variables of a row by same_value', async () => {
    const same = (...sources: object[]) => ({ type: 'same_value', sources, required: false });
    const { client, agentId } = await prepareEvaluations(app, [
      {
        ...EVALUATION,
        variables: [
          { people: 4, time: 'half past seven in the evening', reference: 'Q X 7' },
          { people: 6, time: '8:30 pm', reference: 'Q X 8' },
        ],
        checks: [
          same({ tool: 'find_table', argument: 'people' }, { value: '{{people}}' }),
          same({ tool: 'book_table', argument: 'time' }, { value: '{{time}}' }),
          same({ tool: 'book_table', result: 'reference' }, { value: '{{reference}}' }),
          same({ pattern: 'booked, (?P<reference>[^.]+)' }, { value: '{{reference}}' }),
        ],
      },
    ]);
    const run = await executeRun(client, agentId);
    const calls = (await client.get(`/runs/${run.id}/calls`)).body.data;
    const checksOf = async (index: number): Promise<any[]> =>
      (await client.get(`/calls/${calls[index].id}`)).body.data.checks;
    expect((await checksOf(0)).map(({ met }) => met)).toEqual([true, true, true, true]);
    const second = await checksOf(1);
    expect(second.map(({ met }) => met)).toEqual([true, false, false, false]);
    // A text that is only a variable is its value, with its type.
    expect(second[0].detail).toBe('The same value: find_table had the argument people 6, wanted 6');
    expect(second[2].detail).toBe('Not the same value: book_table had the result reference "QX7", wanted "Q X 8"');
  });

  it.each<[string | null, string | null, string]>([
    [null, 'fr-FR', 'fr-FR'],
    [null, 'French', 'en-US'],
    [null, null, 'en-US'],
    ['es', 'fr-FR', 'es'],
  ])('has for the language %s of an agent with %s the language %s', async (language, ofAgent, expected) => {
    const { client, agentId } = await prepareEvaluations(app, [{ ...EVALUATION, language }], { language: ofAgent });
    const run = await executeRun(client, agentId);
    const [call] = (await client.get(`/runs/${run.id}/calls`)).body.data;
    expect((await client.get(`/calls/${call.id}`)).body.data.evaluation.language).toBe(expected);
  });
});
