import type { ApiResponse, HttpClient } from '../support/http.js';
import { createRunApp, prepareAgent, type RunApp } from '../support/run-app.js';

const TWILIO = { protocol: 'twilio-media-streams', url: 'ws://127.0.0.1:9/twilio' };
const script = [{ say: 'A table, please.' }, { end: 'Done' }];
const LIMIT = { type: 'max_turns', turns: 3 };
const HEARD = { type: 'max_overlap_ms', ms: 300 };
const QUIET = { name: 'Quiet', prompt: 'You are a guest.' };

const item = (key: string, values: object = {}) => ({
  key,
  name: `Name of ${key}`,
  personality: 'Quiet',
  scenarioText: 'You want a table.',
  script,
  checks: [LIMIT],
  ...values,
});
const issuesOf = ({ body }: ApiResponse<any>): string[] =>
  (body.issues ?? []).map((issue: { message: string }) => issue.message);

describe('the plan of an import', () => {
  let app: RunApp;

  beforeAll(async () => {
    app = await createRunApp();
  });
  afterAll(() => app.close());

  const prepare = (values: object = {}) => prepareAgent(app, [], values);
  const send = (client: HttpClient, agentId: string, file: unknown, query = '?dryRun=true') =>
    client.post<any>(`/agents/${agentId}/evaluations/import${query}`, file);
  const planOf = async (client: HttpClient, agentId: string, file: unknown, query?: string) => {
    const response = await send(client, agentId, file, query);
    expect(response).toMatchObject({ status: 200 });
    return response.body.data.plan;
  };

  it('names what the start of a run refuses, with the same reasons, and writes nothing', async () => {
    const { client, agentId } = await prepare();
    const evaluations = [
      item('fits'),
      item('heard', { checks: [HEARD] }),
      item('improvised', { script: [] }),
      item('judged', { criteria: [{ text: 'The agent is polite.' }] }),
      item('rows', {
        script: [{ say: 'A table for {{people}}, please.' }],
        variables: [{ people: 'two' }, { people: 'four' }],
        checks: [LIMIT, HEARD],
      }),
    ];
    const file = { personalities: [QUIET], evaluations };
    const { misfits, warnings } = await planOf(client, agentId, file);
    expect(misfits.map(({ index, key }: any) => [index, key])).toEqual([
      [1, 'heard'],
      [2, 'improvised'],
      [3, 'judged'],
      [4, 'rows'],
    ]);
    expect(misfits[0].reason).toMatch(/^it needs a voice call, which chat-completions does not provide: checks\[0\]/);
    expect(misfits[1].reason).toMatch(/^it has no script, and no language model is configured .*LLM_BASE_URL/);
    expect(warnings).toContain(
      '"Name of judged": the criteria are not judged, because no language model is configured (LLM_BASE_URL, LLM_MODEL).',
    );
    expect((await client.get<any>(`/agents/${agentId}/evaluations`)).body.meta.total).toBe(0);
    expect((await client.get<any>('/personalities')).body.data).not.toContainEqual(
      expect.objectContaining({ name: 'Quiet' }),
    );

    const imported = await send(client, agentId, file, '');
    expect(imported.body.data).not.toHaveProperty('plan');
    const refused = await client.post<any>(`/agents/${agentId}/runs`, {});
    expect(refused.status).toBe(409);
    expect(issuesOf(refused)).toEqual(
      misfits.map(({ key, reason }: any) => `evaluations "Name of ${key}" cannot be run: ${reason}`),
    );
    const run = { evaluationKeys: ['fits'], dryRun: true };
    const planned = await client.post<any>(`/agents/${agentId}/runs`, run);
    const alone = await planOf(client, agentId, [evaluations[0]]);
    expect(alone.warnings).toEqual(planned.body.data.warnings);
    const { name, tags, critical, caller, explanation } = planned.body.data.evaluations[0];
    expect(alone.evaluations).toEqual([
      { key: 'fits', name, tags, critical, provisional: false, caller, cases: 1, explanation },
    ]);
  });

  it('takes the protocol of the agent, or of the medium that the run is to have', async () => {
    const { client, agentId } = await prepare();
    await client.put(`/agents/${agentId}/connection`, TWILIO);
    const file = { personalities: [QUIET], evaluations: [item('heard', { checks: [HEARD] }), item('plain')] };
    expect((await planOf(client, agentId, file)).misfits).toEqual([]);
    const german = { ...file, evaluations: [item('german', { language: 'de-DE' })] };
    expect((await planOf(client, agentId, german)).misfits).toEqual([
      {
        index: 0,
        key: 'german',
        reason:
          'its language is de-DE, and the voices of the caller speak English (TTS_BASE_URL and TTS_LANGUAGES add a speech server)',
      },
    ]);
    const { misfits, warnings } = await planOf(client, agentId, file, '?dryRun=true&medium=text');
    expect(misfits).toEqual([
      { index: 0, key: 'heard', reason: expect.stringMatching(/^medium is text, and the protocol of/) },
      { index: 1, key: 'plain', reason: expect.stringMatching(/^medium is text, and the protocol of/) },
    ]);
    expect(warnings).toEqual([]);
    const start = await client.post<any>(`/agents/${agentId}/runs`, { medium: 'text' });
    await send(client, agentId, file, '');
    const refused = await client.post<any>(`/agents/${agentId}/runs`, { medium: 'text' });
    expect([start.status, refused.status, refused.body.message]).toEqual([409, 409, misfits[0].reason]);
    for (const query of ['?medium=text', '?dryRun=false&medium=text', '?dryRun=true&medium=fax']) {
      const response = await send(client, agentId, file, query);
      expect(response.status).toBe(400);
      expect(issuesOf(response)).toEqual([expect.stringMatching(/^medium /)]);
    }
  });

  it('names what would provide words and tool calls, as the start of a run does, and only where they are missing', async () => {
    const { client, agentId } = await prepare();
    await client.put(`/agents/${agentId}/connection`, TWILIO);
    const evaluations = [
      item('says', { checks: [{ type: 'says', text: 'booked' }] }),
      item('books', { checks: [{ type: 'calls_tool', tool: 'book' }] }),
      item('german', { language: 'de-DE' }),
    ];
    const file = { personalities: [QUIET], evaluations };
    const [says, books, german] = (await planOf(client, agentId, file)).misfits;
    expect(says.cures).toEqual([
      expect.stringMatching(/^transcription: .*STT_BASE_URL/),
      expect.stringMatching(/^protocol: .* the agent's words; /),
    ]);
    expect(books.cures).toEqual([
      expect.stringMatching(/^toolCalls: reported in the options .*POST \/tool-calls/),
      expect.stringMatching(/^protocol: .* the agent's tool calls; /),
    ]);
    expect(german).not.toHaveProperty('cures');
    await send(client, agentId, file, '');
    const refused = issuesOf(await client.post<any>(`/agents/${agentId}/runs`, {}));
    expect(refused.slice(evaluations.length)).toEqual([...says.cures, ...books.cures]);
  });

  it('warns of variables of the prompt that nothing in it sets, and of tools that run for real', async () => {
    const { client, agentId } = await prepare({ prompt: 'Greet {{name}} of {{shop}}, a party of {{people}}.' });
    const options = { variables: { shop: 'Roma' } };
    await client.put(`/agents/${agentId}/connection`, { protocol: 'vapi-chat', options });
    const evaluations = [item('a', { agentVariables: { people: 4 } })];
    const { warnings } = await planOf(client, agentId, { personalities: [QUIET], evaluations });
    expect(warnings).toEqual([
      'The prompt of the agent names {{name}}, and neither the evaluations nor its connection set them: ' +
        'give their values in agentVariables, also those of the run, or in the variables of its connection.',
      'Tools of this agent run for real: its platform calls them, and the tester only sees that.',
    ]);
    await client.put(`/agents/${agentId}/connection`, { protocol: 'retell-text', options });
    const both = [...evaluations, item('b', { agentVariables: { name: 'Rossi' } })];
    expect((await planOf(client, agentId, { personalities: [QUIET], evaluations: both })).warnings).toEqual([
      expect.stringContaining('names {{name}}, {{people}}, and'),
      'Tools of this agent run for real, except those that toolResults of an evaluation name.',
    ]);
  });

  it('says of every evaluation that the agent has no address', async () => {
    const { client, agentId } = await prepare({ provider: 'AGENT_PROVIDER_2' });
    const { misfits } = await planOf(client, agentId, { personalities: [QUIET], evaluations: [item('a'), item('b')] });
    expect(misfits.map(({ key }: any) => key)).toEqual(['a', 'b']);
    expect(misfits[1].reason).toMatch(/^The agent has no address: set its connection/);
  });

  it('takes voices of personalities from the file before those stored, and names deleted personalities', async () => {
    const { client, agentId } = await prepare();
    await send(client, agentId, { personalities: [QUIET], evaluations: [item('a')] }, '');
    const scottish = { personalities: [{ ...QUIET, accent: 'Scottish' }], evaluations: [item('a')] };
    expect((await planOf(client, agentId, scottish)).warnings).toEqual([
      'Personality "Quiet": without effect, because the agent is called over text: accent.',
    ]);
    const { body } = await client.get<any>('/personalities');
    const { id: personalityId } = body.data.find(({ name }: any) => name === 'Quiet');
    await client.delete(`/personalities/${personalityId}`);
    const { personality: _, ...rest } = item('a');
    expect((await planOf(client, agentId, [{ ...rest, personalityId }])).misfits).toEqual([
      { index: 0, key: 'a', reason: 'its personality was deleted; choose another one' },
    ]);
  });

  it('is not shown to another workspace', async () => {
    const { agentId } = await prepare();
    const { client } = await prepare();
    expect((await send(client, agentId, [])).status).toBe(403);
  });
});
