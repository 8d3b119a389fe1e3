import { FILE_FIELD_NAMES } from '../../libs/evaluation-definition/index.js';
import { insertPersonality } from '../factories/rows.js';
import { HttpClient } from '../support/http.js';
import { createTestApp } from '../support/test-app.js';
import { EvaluationFiles, type Format, MEDIA_TYPES, messages } from '../support/evaluation-files.js';

describe('files of evaluations and personalities', () => {
  let files: EvaluationFiles;
  let agentId: string;
  const send = (body: unknown, type?: string, query?: string, id = agentId) => files.send(id, body, type, query);
  const exported = async (format: Format = 'json', id = agentId) => files.exported(id, format);
  const item = (key: string, personality: string, fields: object = {}) => {
    const { personalityId: _, ...rest } = files.item(key);
    return { ...rest, personality, ...fields };
  };
  const personality = async (id: string) => (await files.client.get(`/personalities/${id}`)).body.data;
  const named = async (name: string): Promise<Record<string, unknown>[]> => {
    const { body } = await files.client.get('/personalities?limit=100');
    return body.data.filter((row: { name: string }) => row.name === name);
  };

  beforeEach(async () => {
    // A new workspace for each test: names must be unique in it.
    files = await files.inNewWorkspace();
    agentId = await files.createAgent();
  });
  beforeAll(async () => {
    files = await EvaluationFiles.open();
  });
  afterAll(() => files.app.close());

  describe('import', () => {
    it('creates, updates and keeps personalities, matched by name', async () => {
      const first = await send({
        personalities: [{ name: 'Anna', prompt: 'Calm.' }, { name: 'Ben' }],
        evaluations: [item('a', 'Anna'), item('b', 'Ben'), item('c', 'Anna')],
      });
      expect(first.status).toBe(200);
      const [anna, ben] = first.body.data.personalities.items;
      const users = { otherAgents: [], otherAgentCount: 0 };
      expect(first.body.data).toMatchObject({
        created: 3,
        personalities: {
          created: 2,
          updated: 0,
          unchanged: 0,
          items: [
            { name: 'Anna', id: expect.any(String), action: 'created', ...users },
            { name: 'Ben', id: expect.any(String), action: 'created', ...users },
          ],
        },
      });
      expect(await personality(anna.id)).toMatchObject({
        name: 'Anna',
        prompt: 'Calm.',
        temperature: 0.7,
        gender: 'FEMALE',
        workspaceId: files.owner.workspaceId,
        createdByUserId: files.owner.userId,
      });
      expect((await files.stored(agentId)).map(({ key, personalityId }) => [key, personalityId]).sort()).toEqual([
        ['a', anna.id],
        ['b', ben.id],
        ['c', anna.id],
      ]);

      // An item is the complete personality: missing fields are reset to their defaults.
      const second = await send({
        personalities: [{ name: 'Ben' }, { name: 'Anna', temperature: 0 }, { name: 'Carl' }],
        evaluations: [item('a', 'Carl'), item('b', 'Ben')],
      });
      expect(second.body.data).toMatchObject({
        updated: 1,
        unchanged: 1,
        personalities: {
          created: 1,
          updated: 1,
          unchanged: 1,
          items: [
            { name: 'Ben', id: ben.id, action: 'unchanged' },
            { name: 'Anna', id: anna.id, action: 'updated' },
            { name: 'Carl', action: 'created' },
          ],
        },
      });
      expect(await personality(anna.id)).toMatchObject({ prompt: '', temperature: 0 });
    });

    it('does not write unchanged personalities', async () => {
      const file = { personalities: [{ name: 'Anna', accent: 'Irish' }], evaluations: [] };
      const [{ id }] = (await send(file)).body.data.personalities.items;
      const before = await personality(id);
      expect((await send(file)).body.data.personalities.unchanged).toBe(1);
      expect(await personality(id)).toEqual(before);
    });

    it('takes names of personalities of the workspace, also in a plain list and in CSV', async () => {
      const { id } = await insertPersonality(files.manager, files.owner, { name: 'Anna, "the" first' });
      expect((await send([item('a', 'Anna, "the" first')])).status).toBe(200);
      const csv = 'key,name,scenarioText,personality\nb,B,Text,"Anna, ""the"" first"\n';
      expect((await send(csv, MEDIA_TYPES.csv)).status).toBe(200);
      expect((await files.stored(agentId)).map(({ personalityId }) => personalityId)).toEqual([id, id]);
    });

    it('matches names exactly, and not those of deleted personalities or of other workspaces', async () => {
      const deleted = await insertPersonality(files.manager, files.owner, { name: 'Anna' });
      await files.client.delete(`/personalities/${deleted.id}`);
      await insertPersonality(files.manager, await files.app.createWorkspace(), { name: 'Ben' });
      await insertPersonality(files.manager, files.owner, { name: 'Carl' });
      const { status, body } = await send([
        item('a', 'Anna'),
        item('b', 'Ben'),
        item('c', 'carl'),
        item('d', 'Carl '),
        item('e', 'Carl'),
      ]);
      expect([status, messages(body)]).toEqual([
        400,
        ['a', 'b', 'c', 'd'].map(
          (key, i) =>
            `[${i}].personality is not the name of a personality; there are "Carl", "Impatient regular" (key "${key}")`,
        ),
      ]);
      const created = await send({ personalities: [{ name: 'Anna' }, { name: 'Ben' }], evaluations: [] });
      expect(created.body.data.personalities).toMatchObject({ created: 2, updated: 0 });
    });

    it('rejects names that occur twice in the file or in the workspace', async () => {
      const [, twin] = [
        await insertPersonality(files.manager, files.owner, { name: 'Twin' }),
        await insertPersonality(files.manager, files.owner, { name: 'Twin' }),
      ];
      const { status, body } = await send({
        personalities: [{ name: 'Anna' }, { name: 'Twin' }, { name: 'Anna' }],
        evaluations: [item('a', 'Twin')],
      });
      expect([status, messages(body)]).toEqual([
        400,
        [
          'personalities[2].name is already used by personalities[0] (name "Anna")',
          'personalities[1].name is the name of 2 personalities of the workspace: give it another name here and in evaluations, or delete or rename the others in the workspace (name "Twin")',
        ],
      ]);
      expect(await named('Anna')).toEqual([]);
      const referred = await send([item('a', 'Twin'), files.item('b', { personalityId: twin?.id })]);
      expect([referred.status, messages(referred.body)]).toEqual([
        400,
        ['[0].personality is the name of 2 personalities: use personalityId instead (key "a")'],
      ]);
      expect((await send([files.item('b', { personalityId: twin?.id })])).status).toBe(200);
    });

    it('writes nothing if an evaluation or a personality is invalid, and reports all faults', async () => {
      const foreign = await insertPersonality(files.manager, await files.app.createWorkspace());
      const { status, body } = await send({
        personalities: [{ name: 'Anna' }, { prompt: 7 }, { name: 'Ben', temperature: 3, age: 40 }],
        evaluations: [
          item('a', 'Anna'),
          item('b', 'Nobody', { maxTurns: 0 }),
          files.item('c', { personalityId: foreign.id, tags: 'x' }),
          files.item('d', { personality: 'Anna' }),
          item('e', 'Ben'),
          { key: 'f' },
        ],
      });
      expect(status).toBe(400);
      expect(messages(body)).toEqual([
        'personalities[1].name is required',
        'personalities[1].prompt must be a string; put it in quotation marks',
        'personalities[2].age is not a known field (name "Ben")',
        'personalities[2].temperature must not be greater than 2 (name "Ben")',
        'evaluations[1].maxTurns must not be less than 1 (key "b")',
        'evaluations[2].tags must be a list, such as ["booking","smoke"] (key "c")',
        'evaluations[3] must have exactly one of personality, personalityId (key "d")',
        'evaluations[5] must have exactly one of personality, personalityId (key "f")',
        'evaluations[5].name is required (key "f")',
        'evaluations[5].scenarioText is required (key "f")',
        'evaluations[1].personality is not the name of a personality; there are "Anna", "Ben", "Impatient regular" (key "b")',
        'evaluations[2].personalityId is not the id of a personality (key "c")',
      ]);
      expect(await named('Anna')).toEqual([]);
      expect(await files.stored(agentId)).toEqual([]);
    });

    it('names the line of the field in YAML', async () => {
      const yaml = `# a comment
personalities:
  - name: Anna
    prompt: |
      Two
      lines
    temperature: hot
evaluations:

  - key: a
    name: A
    scenarioText: >
      Folded

      text
    personality: Anna
    checks:
      - type: says
        text: yes
      - {type: max_turns,
         turns: 99}
  - key: b
    personality: Nobody
  - &last
    key: c
    name: C
    scenarioText: C
    personality: Anna
    colour: red
  - *last
`;
      const { status, body } = await send(yaml, MEDIA_TYPES.yaml);
      expect(status).toBe(400);
      expect(messages(body)).toEqual([
        'personalities[0].temperature must be a number (name "Anna", line 7)',
        'evaluations[0].checks[1].turns must be less than maxTurns (40), or the check could never fail (key "a", line 21)',
        'evaluations[1].name is required (key "b", line 22)',
        'evaluations[1].scenarioText is required (key "b", line 22)',
        'evaluations[2].colour is not a known field (key "c", line 29)',
        'evaluations[3].colour is not a known field (key "c", line 30)',
        'evaluations[3].key is already used by evaluations[2] (key "c", line 30)',
        'evaluations[1].personality is not the name of a personality; there are "Anna", "Impatient regular" (key "b", line 23)',
      ]);
    });

    it('reports the faults of a CSV header together with those of the lines', async () => {
      const csv = 'key,name,scenarioText,personality,colour\na,A,,Nobody,red\n';
      const { status, body } = await send(csv, MEDIA_TYPES.csv);
      expect([status, messages(body)]).toEqual([
        400,
        [
          'line 1: colour is not a known field',
          '[0].scenarioText must not be empty (key "a", line 2)',
          '[0].personality is not the name of a personality; there are "Impatient regular" (key "a", line 2)',
        ],
      ]);
    });

    it('names in a dry run the other agents whose callers an updated personality changes', async () => {
      const other = await files.createAgent({ name: 'Reservations' });
      const unnamed = await files.createAgent();
      const deleted = await files.createAgent({ name: 'Deleted' });
      const unrelated = await files.createAgent({ name: 'Unrelated' });
      const first = { personalities: [{ name: 'Anna' }, { name: 'Ben' }], evaluations: [item('a', 'Anna')] };
      for (const id of [agentId, other, unnamed, deleted])
        expect((await send(first, MEDIA_TYPES.json, '', id)).status).toBe(200);
      await send([item('a', 'Ben')], MEDIA_TYPES.json, '', unrelated);
      await files.client.delete(`/agents/${deleted}`);

      const changed = { ...first, personalities: [{ name: 'Anna', accent: 'Irish' }, { name: 'Ben' }] };
      const { status, body } = await send(changed, MEDIA_TYPES.json, '?dryRun=true');
      expect(status).toBe(200);
      expect(body.data.personalities.items).toEqual([
        {
          name: 'Anna',
          id: expect.any(String),
          action: 'updated',
          otherAgents: [
            { id: unnamed, name: null },
            { id: other, name: 'Reservations' },
          ],
          otherAgentCount: 2,
        },
        { name: 'Ben', id: expect.any(String), action: 'unchanged', otherAgents: [], otherAgentCount: 0 },
      ]);
      expect((await named('Anna'))[0]).toMatchObject({ accent: '' });
    });

    it('shows in a dry run what would be created, without ids', async () => {
      const file = { personalities: [{ name: 'Anna' }], evaluations: [item('a', 'Anna')] };
      const { body } = await send(file, MEDIA_TYPES.json, '?dryRun=true');
      expect(body.data).toMatchObject({
        created: 1,
        items: [{ key: 'a', id: null, action: 'created' }],
        personalities: { created: 1, items: [{ name: 'Anna', id: null, action: 'created' }] },
      });
      expect(await named('Anna')).toEqual([]);
    });

    it('creates a personality once when two processes import files for several agents at the same time', async () => {
      // One process would run the imports of the workspace one after another.
      const second = await createTestApp({ databaseUrl: files.app.databaseUrl });
      try {
        const clients = [files.client, new HttpClient(second.url, files.key)];
        const agents = await Promise.all(clients.map(() => files.createAgent()));
        for (let round = 0; round < 10; round++) {
          const name = `Anna ${round}`;
          const file = { personalities: [{ name }], evaluations: [item(`a${round}`, name)] };
          const imports = clients.map((client, i) => client.post(`/agents/${agents[i]}/evaluations/import`, file));
          expect((await Promise.all(imports)).map(({ status }) => status)).toEqual([200, 200]);
          expect(await named(name)).toHaveLength(1);
        }
      } finally {
        await second.close();
      }
    });
  });

  describe('export', () => {
    it('writes the personalities used in order of first use, and names', async () => {
      const list = ['Anna', 'Ben', 'Carl', 'Dora'].map((name) => ({ name }));
      await send({
        personalities: list,
        evaluations: [item('a', 'Carl'), item('b', 'Anna'), item('c', 'Carl'), item('d', 'Ben')],
      });
      const file = JSON.parse(await exported()) as Record<string, Record<string, unknown>[]>;
      expect(file['personalities']?.map(({ name }) => name)).toEqual(['Carl', 'Anna', 'Ben']);
      expect(file['evaluations']?.map((each) => [each['personality'], 'personalityId' in each])).toEqual([
        ['Carl', false],
        ['Anna', false],
        ['Carl', false],
        ['Ben', false],
      ]);
      const csv = await exported('csv');
      const columns = FILE_FIELD_NAMES.filter((name) => !['personalityId', 'timezone', 'history'].includes(name));
      expect(columns).toContain('personality');
      expect(csv.split('\n')[0]).toBe(columns.join(','));
    });

    it.each(['json', 'yaml', 'csv'] as const)(
      'to %s writes a deleted personality, or one that shares its name, as personalityId',
      async (format) => {
        const owner = files.owner;
        const [gone, twin, , only] = [
          await insertPersonality(files.manager, owner, { name: 'Gone' }),
          await insertPersonality(files.manager, owner, { name: 'Twin' }),
          await insertPersonality(files.manager, owner, { name: 'Twin' }),
          await insertPersonality(files.manager, owner, { name: 'Only' }),
        ];
        const used = [gone, twin, only].map(({ id }, i) => files.item(`k${i}`, { personalityId: id }));
        await send(used);
        await files.client.delete(`/personalities/${gone.id}`);
        // A deleted one with the same name does not count.
        const former = await insertPersonality(files.manager, owner, { name: 'Only' });
        await files.client.delete(`/personalities/${former.id}`);
        const text = await exported(format);
        expect(text).toContain(gone.id);
        expect(text).toContain(twin.id);
        expect(text).not.toContain(only.id);
        expect(text).toContain('Only');
        const again = await send(text, MEDIA_TYPES[format]);
        expect([again.status, messages(again.body)]).toEqual([200, []]);
        expect(again.body.data).toMatchObject({ unchanged: 3 });
        expect(await exported(format)).toBe(text);
      },
    );

    it('to JSON and YAML leaves out the phone number of the agent', async () => {
      await send({
        personalities: [{ name: 'Anna' }],
        evaluations: [
          item('own', 'Anna'),
          item('other', 'Anna', { vendorCallPhoneNumber: '+4930' }),
          item('none', 'Anna', { vendorCallPhoneNumber: '' }),
        ],
      });
      const { evaluations } = JSON.parse(await exported()) as { evaluations: Record<string, unknown>[] };
      expect(evaluations.map((each) => each['vendorCallPhoneNumber'])).toEqual([undefined, '+4930', '']);
      expect((await exported('yaml')).match(/vendorCallPhoneNumber: .*/g)).toHaveLength(2);
      expect(await exported('csv')).toContain('+15550100');
      // Another agent's evaluations get its own number.
      const elsewhere = await files.createAgent({ phoneNumber: '+33' });
      await send(await exported('yaml'), MEDIA_TYPES.yaml, '', elsewhere);
      expect((await files.stored(elsewhere)).map((row) => row['vendorCallPhoneNumber'])).toEqual(['', '+4930', '+33']);
    });
  });
});
