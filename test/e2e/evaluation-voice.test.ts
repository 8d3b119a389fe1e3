import { EvaluationFiles, FORMATS, MEDIA_TYPES, messages } from '../support/evaluation-files.js';

const FIELDS = {
  script: [
    { say: 'A table, please.' },
    { backchannel: 'mm-hmm', afterMs: 700 },
    { noise: 'cough', afterMs: 1500 },
    { say: ['For', { pauseMs: 1200 }, 'five.'], bargeIn: { afterMs: 2500 } },
    { noise: 'door' },
    { press: '12w#' },
    { answers: [{ when: { says: { text: 'name' } }, say: ['Ros', { pauseMs: 300 }, 'si.'] }] },
  ],
  checks: [
    { type: 'yields_within_ms', ms: 900, weight: 1, required: true },
    { type: 'keeps_speaking', weight: 1, required: true },
    { type: 'max_interruptions', count: 0, weight: 1, required: true },
    { type: 'max_overlap_ms', ms: 0, weight: 1, required: true },
    { type: 'speaking_rate', minWpm: 99.5, maxWpm: 210, weight: 1, required: true },
    { type: 'audio_level', minDbfs: -40.5, maxDbfs: -10, maxClippedPercent: 0.5, weight: 1, required: true },
    { type: 'max_choppiness', perMinute: 2, weight: 1, required: true },
    { type: 'clean_protocol', weight: 1, required: true },
    { type: 'hears_keys', keys: '12#', then: { transfer: '+15550142' }, weight: 1, required: true },
    { type: 'hears_keys', keys: '12#', then: { tool: 'find', arguments: { pin: '12' } }, weight: 1, required: true },
    { type: 'hears_keys', keys: '12#', then: { transfer: true }, weight: 1, required: false },
    {
      type: 'understood',
      values: [
        { value: 'Rossi' },
        { pattern: '(?P<name>Ros si)', speaker: 'caller', occurrence: 'last' },
        { tool: 'book', argument: 'name', occurrence: 'first' },
      ],
      weight: 1,
      required: true,
    },
  ],
  conditions: {
    noise: { type: 'babble', snrDb: 12.5 },
    gainDb: -6,
    echoDb: -30,
    packetLossPercent: 2,
    jitterMs: 30,
    band: 'telephone',
    seed: 7,
  },
  turnEndMs: 900,
};

describe('evaluations of voice calls', () => {
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

  it('are returned as they were sent, with fields in the order of the documentation', async () => {
    const { noise, ...others } = FIELDS.conditions;
    const mixed = { ...FIELDS, conditions: { ...others, noise: { snrDb: noise.snrDb, type: noise.type } } };
    const created = await create(mixed);
    expect(created).toMatchObject({ status: 201, body: { data: FIELDS } });
    const { script, checks, conditions, turnEndMs } = (await files.client.get(`/evaluations/${created.body.data.id}`))
      .body.data;
    expect(JSON.stringify({ script, checks, conditions, turnEndMs })).toBe(JSON.stringify(FIELDS));
  });

  it('have a good line and a turn end of 700 ms by default', async () => {
    expect((await create({})).body.data).toMatchObject({ conditions: {}, turnEndMs: 700 });
  });

  it('can be changed field by field; conditions are replaced as a whole', async () => {
    const { id } = (await create()).body.data;
    const change = (fields: object) => files.client.patch(`/evaluations/${id}`, fields);
    expect((await change({ conditions: { seed: 8 } })).body.data).toMatchObject({ conditions: { seed: 8 } });
    expect((await change({ turnEndMs: 200 })).body.data).toMatchObject({ conditions: { seed: 8 }, turnEndMs: 200 });
    expect((await change({ conditions: {} })).body.data.conditions).toEqual({});
    // Checks that the remaining script gives no occasion for.
    const silent = await change({ script: [{ say: 'Hello.' }] });
    expect([silent.status, messages(silent.body)]).toEqual([
      400,
      [
        'checks[0] requires a step with say and bargeIn in script, or it could never be decided',
        'checks[1] requires a step with backchannel or noise in script, or it could never be decided',
        'checks[8].keys is not what a step of the script presses, so the check could never be decided',
        'checks[9].keys is not what a step of the script presses, so the check could never be decided',
        'checks[10].keys is not what a step of the script presses, so the check could never be decided',
        'checks[11].values[1] is never said by the script, so the check could never hold',
      ],
    ]);
  });

  it.each(FORMATS)('survive export and import as %s byte for byte', async (format) => {
    const item = files.item('a', FIELDS);
    expect(await files.send(agentId, [item])).toMatchObject({ status: 200 });
    const text = await files.exported(agentId, format);
    const again = await files.send(agentId, text, MEDIA_TYPES[format]);
    expect(again.body.data).toMatchObject({ unchanged: 1, created: 0, updated: 0 });
    const other = await files.createAgent();
    expect(await files.send(other, text, MEDIA_TYPES[format])).toMatchObject({ status: 200 });
    expect(await files.exported(other, format)).toBe(text);
    expect((await files.stored(other))[0]).toMatchObject(FIELDS);
    // One changed field is an update.
    const changed = { ...item, conditions: { ...FIELDS.conditions, seed: 8 } };
    expect((await files.send(other, [changed])).body.data).toMatchObject({ updated: 1 });
    expect((await files.send(other, [{ ...changed, turnEndMs: 901 }])).body.data).toMatchObject({ updated: 1 });
  });

  it.each(FORMATS)('may let a caller without a script say "um", also in files as %s', async (format) => {
    const item = files.item('a', { fillers: true });
    expect(await files.send(agentId, [item])).toMatchObject({ status: 200 });
    const text = await files.exported(agentId, format);
    const other = await files.createAgent();
    expect(await files.send(other, text, MEDIA_TYPES[format])).toMatchObject({ status: 200 });
    expect((await files.stored(other))[0]).toMatchObject({ fillers: true });
    expect((await files.send(other, [{ ...item, fillers: false }])).body.data).toMatchObject({ updated: 1 });
  });

  it('have no fillers with a script, whichever of the two comes first', async () => {
    const { id, fillers } = (await create({ fillers: true })).body.data;
    expect(fillers).toBe(true);
    const changed = await files.client.patch(`/evaluations/${id}`, { script: [{ say: 'Hello.' }] });
    const refusal =
      'fillers must be false for an evaluation with a script, whose lines are known: remove the script or fillers';
    expect([changed.status, messages(changed.body)]).toEqual([400, [refusal]]);
  });

  it('are reported with the line of a file that has something wrong', async () => {
    const yaml = [
      '- key: a',
      '  name: A',
      '  scenarioText: A table.',
      `  personalityId: ${files.personalityId}`,
      '  script:',
      '    - say: Hello.',
      '    - backchannel: okay',
      '      afterMs: 5',
      '  conditions:',
      '    noise: { type: grey, snrDb: 3 }',
    ].join('\n');
    const { status, body } = await files.send(agentId, yaml, MEDIA_TYPES.yaml);
    expect(status).toBe(400);
    expect(messages(body)).toEqual([
      '[0].script[1].backchannel must be one of mm-hmm, uh-huh, yeah (key "a", line 7)',
      '[0].conditions.noise.type must be one of white, pink, brown, hum, babble (key "a", line 10)',
    ]);
    const csv = await files.send(
      agentId,
      `key,name,scenarioText,personalityId,conditions,turnEndMs\na,A,T,${files.personalityId},{,9x\n`,
      MEDIA_TYPES.csv,
    );
    expect(messages(csv.body)).toEqual([
      '[0].conditions must be valid JSON (key "a", line 2)',
      '[0].turnEndMs must be a whole number (key "a", line 2)',
    ]);
  });

  it.each<[string, object]>([
    ['a line that nests itself', { script: [{ say: [['Hello.']] }] }],
    ['a line of many parts', { script: [{ say: Array.from({ length: 5_000 }, () => 'a') }] }],
    ['an endless pause', { script: [{ say: ['a', { pauseMs: 1e308 }, 'b'] }] }],
    ['a line with a text that cannot be stored', { script: [{ say: ['a\u0000', { pauseMs: 5 }, 'b'] }] }],
    ['a prototype as backchannel', { script: [{ say: 'a' }, { backchannel: '__proto__', afterMs: 1 }] }],
    ['keys in another alphabet', { script: [{ press: '١٢٣' }] }],
    ['keys with a line break', { script: [{ press: '12\n' }] }],
    ['a million keys', { script: [{ press: '1'.repeat(1_000_000 - 100_000) }] }],
    ['a seed that is too large', { conditions: { seed: 2 ** 53 } }],
    ['a condition that is a list', { conditions: { noise: [] } }],
    ['a turn end as a text', { turnEndMs: '700' }],
    ['a check with a limit of another type', { checks: [{ type: 'yields_within_ms', ms: '900' }] }],
    ['a check with a level without unit', { checks: [{ type: 'audio_level', minDbfs: null }] }],
    [
      'a reaction that is everything',
      { checks: [{ type: 'hears_keys', keys: '1', then: { transfer: true, tool: 'a' } }] },
    ],
  ])('are rejected, not stored and no error of the service, with %s', async (_, fields) => {
    const response = await create(fields);
    expect(response.status).toBe(400);
    expect(messages(response.body).length).toBeGreaterThan(0);
    expect(await files.stored(agentId)).toEqual([]);
  });
});
