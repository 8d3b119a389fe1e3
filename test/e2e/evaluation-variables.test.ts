import { EvaluationFiles, FORMATS, MEDIA_TYPES, messages } from '../support/evaluation-files.js';

const FIELDS = {
  language: 'de-AT',
  variables: [
    { people: 4, isVip: true, day: 'Freitag' },
    { people: 2, isVip: false, day: 'Sonntag' },
  ],
  toolResults: [
    { tool: 'find_table', arguments: { people: 4 }, result: { times: ['19:00'], note: '{{day}}' } },
    { tool: 'find_table', result: null },
  ],
  scenarioText: 'Du willst einen Tisch für {{people}}.',
  script: [{ say: 'Am {{day}}, \\{{nicht ersetzt}}.' }],
  checks: [
    { type: 'says', pattern: '{{day}}', speaker: 'agent', weight: 1, required: true },
    { type: 'max_turns', turns: '{{people}}', weight: 1, required: '{{isVip}}' },
  ],
};

describe('variables, tool results and language of evaluations', () => {
  let files: EvaluationFiles;
  let agentId: string;

  beforeAll(async () => {
    files = await EvaluationFiles.open();
  });
  beforeEach(async () => {
    agentId = await files.createAgent();
  });
  afterAll(() => files.app.close());

  const create = async (fields: object = FIELDS) => {
    const { key: _, ...item } = files.item('x', fields);
    return files.client.post(`/agents/${agentId}/evaluations`, item);
  };

  it('are returned as they were sent, with names in alphabetical order', async () => {
    const created = await create();
    expect(created).toMatchObject({ status: 201, body: { data: FIELDS } });
    const read = await files.client.get(`/evaluations/${created.body.data.id}`);
    expect(read.body.data).toEqual(created.body.data);
    expect(Object.keys(read.body.data.variables[0])).toEqual(['day', 'isVip', 'people']);
  });

  it('are absent by default', async () => {
    expect((await create({})).body.data).toMatchObject({ language: null, variables: [], toolResults: [] });
  });

  it('are validated by a change together with what is stored', async () => {
    const { id } = (await create()).body.data;
    const change = (fields: object) => files.client.patch(`/evaluations/${id}`, fields);
    const issuesOf = async (fields: object) => {
      const response = await change(fields);
      return [response.status, messages(response.body)];
    };
    expect(await issuesOf({ criteria: [{ text: 'Sagt {{tag}}.' }] })).toEqual([
      400,
      [
        expect.stringMatching(
          /^criteria\[0\]\.text uses the unknown variable "tag"; known are day, isVip, people and the dates today, /,
        ),
      ],
    ]);
    expect(await issuesOf({ variables: [{ people: 300, isVip: true, day: 'Freitag' }] })).toEqual([
      400,
      ['checks[1].turns must not be greater than 200'],
    ]);
    expect(await issuesOf({ variables: [] })).toEqual([
      400,
      ['checks[1].turns must be a whole number', 'checks[1].required must be true or false'],
    ]);
    expect(await change({ checks: [{ type: 'max_turns', turns: '{{people}}' }], language: null })).toMatchObject({
      status: 200,
      body: { data: { language: null, checks: [{ turns: '{{people}}' }], variables: FIELDS.variables } },
    });
    expect(await change({ variables: [], checks: [] })).toMatchObject({
      status: 200,
      body: { data: { variables: [] } },
    });
  });

  it.each(FORMATS)('survive export and import as %s', async (format) => {
    await files.send(agentId, [files.item('with', FIELDS), files.item('without')]);
    const text = await files.exported(agentId, format);
    const stored = await files.stored(agentId);
    expect(stored.at(-1)).toMatchObject(FIELDS);
    const other = await files.createAgent();
    const imported = await files.send(other, text, MEDIA_TYPES[format]);
    expect(imported).toMatchObject({ status: 200, body: { data: { created: 2 } } });
    expect(await files.exported(other, format)).toBe(text);
    expect((await files.send(other, text, MEDIA_TYPES[format])).body.data).toMatchObject({ unchanged: 2 });
  });

  it('are part of what an import compares', async () => {
    await files.send(agentId, [files.item('a', FIELDS)]);
    for (const changed of [{ language: 'de-DE' }, { toolResults: [] }, { variables: FIELDS.variables.slice(1) }]) {
      const response = await files.send(agentId, [files.item('a', { ...FIELDS, ...changed })]);
      expect(response.body.data).toMatchObject({ updated: 1 });
    }
  });
});
