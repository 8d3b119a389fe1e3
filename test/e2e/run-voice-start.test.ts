import type { ApiResponse } from '../support/http.js';
import { createRunApp, executeRun, prepareEvaluations, type RunApp } from '../support/run-app.js';

const TWILIO = { protocol: 'twilio-media-streams', url: 'ws://127.0.0.1:9/twilio' };
const script = [
  { say: 'A table, please.' },
  { backchannel: 'mm-hmm', afterMs: 700 },
  { say: ['For', { pauseMs: 900 }, 'five.'], bargeIn: { afterMs: 1500 } },
  { press: '1#' },
  { end: 'Done' },
];
const ask = (when: string) => [{ when: { says: { text: when } }, say: 'Rossi.' }];
const HEARD = { type: 'yields_within_ms', name: 'Yields', ms: 900 };
const NO_MODEL = 'http://127.0.0.1:9/v1';

const evaluation = (name: string, values: object) => ({
  key: name,
  name,
  scenarioText: 'You want a table.',
  script,
  ...values,
});
const issuesOf = ({ body }: ApiResponse<any>) => (body.issues ?? []).map((issue: { message: string }) => issue.message);
const refused = (name: string, reason: string) => `evaluations "${name}" cannot be run: ${reason}`;

describe('starting a run with what the protocol of the agent does not provide', () => {
  let app: RunApp;

  beforeAll(async () => {
    // A model that no call reaches: only what the protocol lacks must refuse a run.
    app = await createRunApp({}, { env: { LLM_BASE_URL: NO_MODEL, LLM_MODEL: 'none' } });
  });
  afterAll(() => app.close());

  const prepare = async (evaluations: object[], connection?: object) => {
    const prepared = await prepareEvaluations(app, evaluations);
    const { client, agentId } = prepared;
    if (connection)
      expect(await client.put(`/agents/${agentId}/connection`, connection)).toMatchObject({ status: 200 });
    const start = (body: object = {}) => client.post(`/agents/${agentId}/runs`, body);
    const runs = async () => (await client.get(`/agents/${agentId}/runs`)).body.meta.total as number;
    return { ...prepared, start, runs };
  };

  it('refuses checks that need a voice call for an agent over text, with one issue per evaluation', async () => {
    const { start, runs } = await prepare([
      evaluation('Heard', {
        checks: [{ type: 'max_turns', turns: 3 }, HEARD, { type: 'not', check: { type: 'clean_protocol' } }],
      }),
      evaluation('Not heard', { checks: [{ type: 'max_turns', turns: 3 }] }),
      evaluation('By keys', { checks: [{ type: 'hears_keys', keys: '1#', required: false }] }),
    ]);
    const voice = 'it needs a voice call, which chat-completions does not provide';
    for (const dryRun of [true, false]) {
      const response = await start({ dryRun });
      expect(response).toMatchObject({ status: 409, body: { code: 'CONFLICT', message: 'The run cannot be started' } });
      expect(issuesOf(response)).toEqual([
        refused(
          'Heard',
          `${voice}: checks[1] (Yields), checks[2] (Not: the agent keeps to the protocol of its platform)`,
        ),
        refused('By keys', `${voice}: checks[0] (After the keys 1#, agent says something or transfers the call)`),
      ]);
    }
    expect(await runs()).toBe(0);
    expect(await start({ evaluationKeys: ['Not heard'] })).toMatchObject({ status: 201 });
  });

  it('refuses what needs words or tool calls for an agent on the telephone', async () => {
    const words = "it needs the agent's words, which twilio-media-streams does not provide";
    const tools = "it needs the agent's tool calls, which twilio-media-streams does not provide";
    const { start, runs } = await prepare(
      [
        evaluation('Generated', { script: [] }),
        evaluation('Answers', { script: [{ say: 'Hello' }, { answers: ask('name') }] }),
        evaluation('When', { script: [{ say: 'Hello' }, { when: { says: { text: 'name' } }, say: 'Rossi' }] }),
        evaluation('Criterion', { criteria: [{ text: 'Polite.' }] }),
        evaluation('Says', { checks: [{ type: 'says', text: 'booked', required: false }] }),
        evaluation('Tool', { checks: [{ type: 'calls_tool', tool: 'book' }] }),
        evaluation('Understood', {
          checks: [{ type: 'understood', values: [{ value: 5 }, { tool: 'book', argument: 'people' }] }],
        }),
        evaluation('German', { language: 'de-DE' }),
        evaluation('Both', { script: [], language: 'de', checks: [{ type: 'calls_tool', tool: 'book' }] }),
        evaluation('Fits', { checks: [HEARD], criteria: [{ text: 'Polite.', required: false }] }),
      ],
      TWILIO,
    );
    const response = await start();
    expect(response.status).toBe(409);
    expect(issuesOf(response)).toEqual([
      refused('Generated', `${words}: the caller, which has no script`),
      refused('Answers', `${words}: script[1] (answers)`),
      refused('When', `${words}: script[1] (when)`),
      refused('Criterion', `${words}: criteria[0]`),
      refused('Says', `${words}: checks[0] (Agent says "booked")`),
      refused('Tool', `${tools}: checks[0] (Agent calls book)`),
      refused('Understood', `${tools}: checks[0] (Understood, the same value: 5; argument people of book)`),
      refused(
        'German',
        'its language is de-DE, and the voices of the caller speak English (TTS_BASE_URL and TTS_LANGUAGES add a speech server)',
      ),
      refused(
        'Both',
        `${words}: the caller, which has no script; ${tools}: checks[0] (Agent calls book); its language is de, and the voices of the caller speak English (TTS_BASE_URL and TTS_LANGUAGES add a speech server)`,
      ),
      expect.stringMatching(/^transcription: no transcription server is configured \(STT_BASE_URL\); with it, /),
      expect.stringMatching(/^protocol: .*chat-completions.* the agent's words; .* a second agent/),
      expect.stringMatching(/^toolCalls: reported in the options of the agent's connection; /),
      expect.stringMatching(/^protocol: .*openai-realtime.* the agent's tool calls; .* a second agent/),
    ]);
    expect(await runs()).toBe(0);
    const plan = await start({ evaluationKeys: ['Fits'], dryRun: true });
    expect(plan.body.data.warnings).toEqual([
      expect.stringMatching(
        /^"Fits": the criteria are not judged, because .* does not provide the agent's words \(chat-completions.* them\), and no transcription server is configured \(STT_BASE_URL\)\.$/,
      ),
    ]);
  });

  it('judges checks with variables by the values of their rows', async () => {
    const { start } = await prepare(
      [
        evaluation('Rows', {
          variables: [{ who: 'caller' }, { who: 'agent' }],
          checks: [{ type: 'says', text: 'please', speaker: '{{who}}' }],
        }),
      ],
      TWILIO,
    );
    expect(issuesOf(await start())).toEqual([
      expect.stringContaining('checks[0] (Agent says "please")'),
      expect.stringMatching(/^transcription: .*STT_BASE_URL/),
      expect.stringMatching(/provides? the agent's words/),
    ]);
  });

  it('refuses a rerun when the agent has got another protocol since', async () => {
    const { client, agentId, start, runs } = await prepare([
      evaluation('Says', { checks: [{ type: 'says', text: 'table' }] }),
    ]);
    const run = await executeRun(client, agentId);
    await client.put(`/agents/${agentId}/connection`, TWILIO);
    for (const query of ['', '?only=failed']) {
      const response = await client.post(`/runs/${run.id}/rerun${query}`);
      expect(response.status).toBe(409);
      if (query === '')
        expect(issuesOf(response)).toEqual([
          expect.stringMatching(/^evaluations "Says" .*checks\[0\]/),
          expect.stringMatching(/^transcription: .*STT_BASE_URL/),
          expect.stringMatching(/provides? the agent's words/),
        ]);
    }
    expect(await runs()).toBe(1);
    await client.delete(`/agents/${agentId}/connection`);
    expect(await start()).toMatchObject({ status: 201 });
  });

  it('warns of variables for a bot of Pipecat at a WebSocket, which gets none', async () => {
    const { client, agentId, start } = await prepare([
      evaluation('Bot', { script: [{ say: 'Hi.' }, { end: 'Done' }], checks: [{ type: 'max_turns', turns: 3 }] }),
    ]);
    const warned = async (url: string) => {
      await client.put(`/agents/${agentId}/connection`, { protocol: 'pipecat', url });
      const { warnings } = (await start({ dryRun: true, agentVariables: { name: 'Rossi' } })).body.data;
      return warnings.some((warning: string) => warning.startsWith('agentVariables have no effect'));
    };
    expect(await warned('wss://bots.example.com/ws-client')).toBe(true);
    expect(await warned('https://bots.example.com/start')).toBe(false);
  });

  it('calls an agent over text with the same script, and notes what was left out', async () => {
    const { client, agentId, start } = await prepare([
      evaluation('Text', { checks: [{ type: 'max_turns', turns: 3 }], conditions: { gainDb: -6 } }),
    ]);
    expect((await start({ dryRun: true })).body.data.warnings).toEqual([
      '"Text": lines with bargeIn are said after the response, because the agent is called over text.',
      '"Text": backchannels, noises and keys are left out, because the agent is called over text.',
      '"Text": its conditions have no effect, because the agent is called over text.',
    ]);
    const run = await executeRun(client, agentId);
    const { data: calls } = (await client.get(`/runs/${run.id}/calls`)).body;
    const { data: call } = (await client.get(`/calls/${calls[0].id}`)).body;
    expect(call).toMatchObject({
      outcome: 'passed',
      evaluation: { definition: { conditions: { gainDb: -6 }, turnEndMs: 700 } },
    });
    expect(call.timeline).toContainEqual(
      expect.objectContaining({ type: 'sound', kind: 'backchannel', name: 'mm-hmm', possible: false }),
    );
    expect(call.timeline).toContainEqual(
      expect.objectContaining({ text: 'For five.', bargeIn: { afterMs: 1500, possible: false } }),
    );
    const { body: junit } = await client.get(`/runs/${run.id}/junit`);
    const { body: report } = await client.get(`/runs/${run.id}/report`);
    for (const page of [junit, report]) expect(page).toContain('presses 1#, which was not possible');
    expect(report).toContain('barge-in after 1500 ms, which was not possible');
  });
});
