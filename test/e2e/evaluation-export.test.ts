import { randomUUID } from 'node:crypto';
import { parse as parseCsv } from 'csv-parse/sync';
import fc from 'fast-check';
import { load } from 'js-yaml';
import { parse as parseYaml } from 'yaml';
import { shareOf } from '../../libs/statistics/testing/sample.js';
import { insertEvaluation } from '../factories/rows.js';
import { anyEvaluations } from '../support/any-evaluations.js';
import { EvaluationFiles, type Format, FORMATS, MEDIA_TYPES, messages } from '../support/evaluation-files.js';

describe('export of evaluations', () => {
  let files: EvaluationFiles;
  let agentId: string;
  const item = (key: string, fields?: object) => files.item(key, fields);
  const send = (body: unknown, type?: string, query?: string, id = agentId) => files.send(id, body, type, query);
  const stored = (id = agentId) => files.stored(id);
  const exported = (format: Format, id = agentId) => files.exported(id, format);

  beforeAll(async () => {
    files = await EvaluationFiles.open();
  });
  beforeEach(async () => {
    agentId = await files.createAgent();
  });
  afterAll(() => files.app.close());

  it.each(FORMATS)('returns %s with its file name and media type', async (format) => {
    await send([item('a')]);
    const response = await files.export(agentId, format);
    expect(response.headers.get('content-type')).toMatch(new RegExp(`^${MEDIA_TYPES[format]}; charset=utf-8`));
    expect(response.headers.get('content-disposition')).toBe(`attachment; filename="evaluations-${agentId}.${format}"`);
    for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'x-request-id']) {
      expect(response.headers.get(name)).not.toBeNull();
    }
    expect(await response.text()).toContain('Name of a');
  });

  it('returns JSON by default', async () => {
    await send([item('a')]);
    const { body } = await files.client.get(`/agents/${agentId}/evaluations/export`);
    const { personalityId: _, ...named } = item('a');
    expect(body).toEqual({
      personalities: [
        {
          name: 'Impatient regular',
          description: '',
          prompt: '',
          temperature: 0.7,
          accent: '',
          backgroundNoise: false,
          gender: 'FEMALE',
          provider: 'PERSONALITY_PROVIDER_1',
          voice_id: '',
          interrupts: 'never',
        },
      ],
      evaluations: [
        {
          ...named,
          generalInstructions: '',
          personality: 'Impatient regular',
          critical: false,
          tags: [],
          script: [],
          checks: [],
          criteria: [],
          maxTurns: 40,
          maxDurationSeconds: 600,
          variables: [],
          toolResults: [],
          conditions: {},
          turnEndMs: 700,
          fillers: false,
          agentVariables: {},
          scope: 'tests',
        },
      ],
    });
    const { status, body: rejected } = await files.client.get(`/agents/${agentId}/evaluations/export?format=xml`);
    expect([status, messages(rejected)]).toEqual([400, ['format must be one of json, yaml, csv']]);
  });

  it.each(FORMATS)('returns an importable %s file for an agent without evaluations', async (format) => {
    const text = await exported(format);
    expect((await send(text, MEDIA_TYPES[format])).body.data).toEqual({
      dryRun: false,
      created: 0,
      updated: 0,
      unchanged: 0,
      items: [],
      personalities: { created: 0, updated: 0, unchanged: 0, items: [] },
    });
  });

  it.each(FORMATS)(
    'to %s writes the id as key for evaluations without a key, and import matches it',
    async (format) => {
      const { id } = await insertEvaluation(files.manager, files.owner, agentId, {
        personalityId: files.personalityId,
      });
      const text = await exported(format);
      expect((await send(text, MEDIA_TYPES[format])).body.data.items).toEqual([{ key: id, id, action: 'unchanged' }]);
      const changed = await send(text.replaceAll('Books', 'Cancels'), MEDIA_TYPES[format]);
      expect(changed.body.data.items).toEqual([{ key: id, id, action: 'updated' }]);
      expect((await files.client.get(`/evaluations/${id}`)).body.data).toMatchObject({
        key: null,
        name: 'Cancels a table for four',
      });
      // Another agent treats the id as an ordinary key.
      const otherAgentId = await files.createAgent();
      expect((await send(text, MEDIA_TYPES[format], '', otherAgentId)).body.data).toMatchObject({ created: 1 });
    },
  );

  it.each<[object, boolean]>([
    [{}, false],
    [{ history: [] }, false],
    [{ history: [{ caller: 'Hello.' }, { tool: 'find', result: null }] }, true],
  ])('names the history only if there is one: %j', async (fields, isNamed) => {
    await send([item('h', fields)]);
    const written = await Promise.all(FORMATS.map((format) => exported(format)));
    expect(written.map((file) => file.includes('history'))).toEqual(FORMATS.map(() => isNamed));
    for (const [index, format] of FORMATS.entries()) {
      expect((await send(written[index], MEDIA_TYPES[format])).body.data).toMatchObject({ unchanged: 1 });
    }
  });

  it('returns the error body if the agent does not exist', async () => {
    for (const id of ['nope', randomUUID()]) {
      const { status, headers, body } = await files.client.get(`/agents/${id}/evaluations/export?format=csv`);
      expect([status, body.code]).toEqual([404, 'NOT_FOUND']);
      expect(headers.get('content-type')).toMatch(/^application\/json/);
      expect(headers.get('content-disposition')).toBeNull();
    }
  });

  describe('with 80 MB of data', () => {
    beforeEach(async () => {
      const { id } = await insertEvaluation(files.manager, files.owner, agentId);
      await files.manager.query(
        `INSERT INTO evaluations (id, workspace_id, agent_id, personality_id, created_by_user_id, name, scenario_text,
           general_instructions, vendor_call_phone_number, critical, tags, script, checks, criteria, max_turns,
           max_duration_seconds)
         SELECT gen_random_uuid(), workspace_id, agent_id, personality_id, created_by_user_id, name,
           repeat('x', 100000), repeat('y', 100000), '', critical, tags, script, checks, criteria, max_turns,
           max_duration_seconds
           FROM evaluations, generate_series(1, 400) WHERE id = $1`,
        [id],
      );
    });

    it('still works after a client disconnected', async () => {
      const abort = new AbortController();
      const response = await files.export(agentId, 'json', { signal: abort.signal });
      await response.body?.getReader().read();
      abort.abort();
      expect((JSON.parse(await exported('json')) as { evaluations: object[] }).evaluations).toHaveLength(401);
    });

    it('applies back-pressure, and is aborted when it cannot continue', async () => {
      const response = await files.export(agentId, 'json');
      const reader = response.body?.getReader();
      await reader?.read();
      await files.manager.query('ALTER TABLE evaluations RENAME TO evaluations_away');
      const rest = async () => {
        for (;;) if ((await reader?.read())?.done) return 'complete';
      };
      try {
        await expect(rest()).rejects.toThrow();
      } finally {
        await files.manager.query('ALTER TABLE evaluations_away RENAME TO evaluations');
      }
    });
  });

  it('escapes cells that look like formulas', async () => {
    const dangerous = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', "'=1", '＝1'];
    await send(dangerous.map((name, i) => item(`k${i}`, { name, scenarioText: name })));
    const csv = await exported('csv');
    const rows: string[][] = parseCsv(csv);
    for (const cell of rows.flat()) expect(cell).not.toMatch(/^[=+\-@\t\r＝]/);
    expect((await send(csv, MEDIA_TYPES.csv)).body.data).toMatchObject({ unchanged: dangerous.length });
  });

  it('round-trips arbitrary texts through export and import', async () => {
    await fc.assert(
      fc.asyncProperty(anyEvaluations, async (list) => {
        const id = await files.createAgent();
        const file = list.map((entry) => ({ ...entry, personalityId: files.personalityId }));
        const { status, body } = await send(file, MEDIA_TYPES.json, '', id);
        expect([status, messages(body)]).toEqual([200, []]);
        const before = await stored(id);
        const asJson = JSON.parse(await exported('json', id)) as unknown;
        for (const format of FORMATS) {
          const again = await send(await exported(format, id), MEDIA_TYPES[format], '', id);
          expect([format, again.status, messages(again.body)]).toEqual([format, 200, []]);
          expect([format, again.body.data]).toMatchObject([format, { created: 0, updated: 0, unchanged: list.length }]);
        }
        expect(await stored(id)).toEqual(before);
        // Another parser reads the same values.
        const yaml = await exported('yaml', id);
        expect(load(yaml)).toEqual(asJson);
        expect(parseYaml(yaml)).toEqual(asJson);
      }),
      { numRuns: shareOf(60) },
    );
  }, 300_000);
});
