import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { sample } from '../../libs/statistics/testing/sample.js';
import { EvaluationFiles, type Format, MEDIA_TYPES, messages } from '../support/evaluation-files.js';

describe('import of invalid evaluations', () => {
  let files: EvaluationFiles;
  let agentId: string;
  const item = (key: string, fields?: object) => files.item(key, fields);
  const send = (body: unknown, type?: string, query?: string, id = agentId) => files.send(id, body, type, query);
  const stored = (id = agentId) => files.stored(id);

  beforeAll(async () => {
    files = await EvaluationFiles.open();
  });
  beforeEach(async () => {
    agentId = await files.createAgent();
  });
  afterAll(() => files.app.close());

  it('writes nothing and reports every violation with its item and field', async () => {
    const { status, body } = await send([
      item('good'),
      { ...item('a'), key: undefined, colour: 1, maxTurns: 'x' },
      item('b', {
        checks: [
          { type: 'says', pattern: '(' },
          { type: 'max_turns', turns: 99 },
        ],
        personalityId: randomUUID(),
      }),
      7,
      item('good'),
      item('c', { personalityId: randomUUID() }),
    ]);
    expect(status).toBe(400);
    expect(messages(body)).toEqual([
      '[1].key is required',
      '[1].colour is not a known field',
      '[1].maxTurns must be a whole number',
      '[2].checks[0].pattern must be an RE2 regular expression: missing closing ): "(" (key "b")',
      '[2].checks[1].turns must be less than maxTurns (40), or the check could never fail (key "b")',
      '[3] must be an object',
      '[4].key is already used by [0] (key "good")',
      '[2].personalityId is not the id of a personality (key "b")',
      '[5].personalityId is not the id of a personality (key "c")',
    ]);
    expect(await stored()).toEqual([]);
  });

  it('names lines and columns of a CSV file, also after cells with line breaks', async () => {
    const csv = [
      'key,name,scenarioText,personalityId,checks,critical,maxTurns,tags',
      `a,"Line one`,
      `and ""two""`,
      `and three",Text,${files.personalityId},,,,`,
      ``,
      `b,,Text,nope,"[{""type"": ""says"",`,
      `  ""pattern"": ""(""}]",maybe,ten,x;y;x`,
      `c,Name,Text,${files.personalityId},[,TRUE,5,x;y`,
      `a,Name,Text,${files.personalityId}`,
    ].join('\r\n');
    const { status, body } = await send(csv, MEDIA_TYPES.csv);
    expect(status).toBe(400);
    expect(messages(body)).toEqual([
      '[1].critical must be true or false (key "b", line 6)',
      '[1].maxTurns must be a whole number (key "b", line 6)',
      '[1].name must not be empty (key "b", line 6)',
      '[1].personalityId must be a UUID (key "b", line 6)',
      '[1].tags must not contain duplicates: entries 0 and 2 are equal (key "b", line 6)',
      '[1].checks[0].pattern must be an RE2 regular expression: missing closing ): "(" (key "b", line 6)',
      '[2].checks must be valid JSON (key "c", line 8)',
      '[3] has 4 cells, but the header row has 8 (key "a", line 9)',
      '[3].key is already used by [0] (key "a", line 9)',
    ]);
  });

  it.each([
    ['application/json', '[{"key": "a",\n  "name": }]', 'body must be valid JSON: error at line 2, column 11'],
    ['application/json', '[', 'body must be valid JSON: error at line 1, column 2'],
    ['application/json', '[1, 2', 'body must be valid JSON: error at line 1, column 6'],
    ['application/json', '[]\n[]', 'body must be valid JSON: error at line 2, column 1'],
    ['application/json', '[{"a" 1}]', 'body must be valid JSON: error at line 1, column 7'],
    ['application/json', '[{"a": 01}]', 'body must be valid JSON: error at line 1, column 9'],
    ['application/json', '["\n"]', 'body must be valid JSON: error at line 1, column 2'],
    ['application/json', '{}', 'evaluations is required'],
    ['application/json', 'null', 'body must be a list of evaluations, or an object with personalities and evaluations'],
    [
      'application/json',
      '{"personalities": {}, "evaluations": 7, "colour": 1}',
      ['colour is not a known field', 'personalities must be a list', 'evaluations must be a list'],
    ],
    ['application/yaml', '- a: 1\n- [', /^body must be valid YAML: .+ at line 2, column \d+$/],
    ['application/yaml', '- "a\n', 'body must be valid YAML: deficient indentation at the end, line 1'],
    ['application/yaml', '- a: 1\n  a: 2', 'body must be valid YAML: duplicated mapping key at line 2, column 3'],
    ['application/yaml', '- !!js/function x', /^body must be valid YAML: .+tag.+ at line 1, column 3$/],
    ['application/yaml', '- !custom x', /^body must be valid YAML: .+tag.+ at line 1, column 3$/],
    ['application/yaml', '---\n[]\n---\n[]', 'body must hold one YAML document'],
    ['application/yaml', '# nothing', /^body must be valid YAML: /],
    ['application/yaml', 'a: 1', ['a is not a known field (line 1)', 'evaluations is required (line 1)']],
    [
      'text/csv',
      'key,name,colour,name\n',
      [
        'line 1: colour is not a known field',
        'line 1: name occurs twice',
        'line 1: scenarioText is missing',
        'line 1: personality is missing',
      ],
    ],
    ['text/csv', 'key,name,scenarioText,personalityId\na,"b\n', /^line [23]: body must be valid CSV: /],
    ['text/csv', 'key,name,scenarioText,personalityId\na,b"c,d,e\n', /^line 2: body must be valid CSV: /],
    ['text/csv', '\n', 'line 1: a header row with the names of the fields is missing'],
  ])('rejects invalid %s: %j', async (type, body, issue) => {
    const response = await send(body, type);
    expect(response.status).toBe(400);
    expect(response.body.message).toBe('Invalid input data');
    if (issue instanceof RegExp) expect(messages(response.body)).toEqual([expect.stringMatching(issue)]);
    else expect(messages(response.body)).toEqual([issue].flat());
  });

  it('rejects an empty body, other media types, other charsets and invalid UTF-8', async () => {
    const path = `/agents/${agentId}/evaluations/import`;
    expect(messages((await files.client.send('POST', path)).body)).toEqual(['body must not be empty']);
    for (const type of ['text/plain', 'application/jsonl', 'text/csv; charset=latin1', 'x']) {
      expect([type, (await send('[]', type)).status]).toEqual([type, 415]);
    }
    const { status, body } = await send(new Uint8Array([0x5b, 0xff, 0x5d]));
    expect([status, messages(body)]).toEqual([400, ['body must be encoded in UTF-8']]);
  });

  it('rejects more than 10 MiB and more than 5,000 items', async () => {
    const { status, body } = await send(`[${' '.repeat(10 * 1024 * 1024)}]`);
    expect([status, messages(body)]).toEqual([413, ['body must be at most 10 MiB']]);
    expect((await send(`[${' '.repeat(10 * 1024 * 1024 - 2)}]`)).status).toBe(200);
    const bomb = gzipSync(`[${' '.repeat(50 * 1024 * 1024)}]`);
    const packed = await files.client.send('POST', `/agents/${agentId}/evaluations/import`, bomb, {
      'Content-Encoding': 'gzip',
    });
    expect(packed.status).toBe(413);
    const many = await send(Array.from({ length: 5_001 }, () => 0));
    expect(messages(many.body)).toEqual(['body must hold at most 5000 evaluations']);
  });

  it('lists a thousand violations and counts the others', async () => {
    const { status, body } = await send(Array.from({ length: 5_000 }, () => ({})));
    expect(status).toBe(400);
    expect(messages(body)).toHaveLength(1_001);
    expect(messages(body).at(-1)).toBe('body has more than 19000 further violations');
  });

  it('rejects valid evaluations that aliases make larger than 20 MiB', async () => {
    const evaluation = (key: string, text: string) =>
      `- {key: ${key}, name: Long, personalityId: ${files.personalityId}, scenarioText: ${text}}\n`;
    const copies = Array.from({ length: 300 }, (_, i) => evaluation(`copy-${i}`, '*text'));
    const yaml = evaluation('first', `&text "${'x'.repeat(90_000)}"`) + copies.join('');
    const { status, body } = await send(yaml, MEDIA_TYPES.yaml);
    expect([status, messages(body)]).toEqual([413, ['body must be at most 20 MiB once its aliases are resolved']]);
    expect(await stored()).toEqual([]);
  });

  describe('hostile files', () => {
    const attacks: [string, Format, () => unknown][] = [
      ['deep JSON', 'json', () => '['.repeat(1_000_000)],
      ['deep JSON that is complete', 'json', () => '['.repeat(500_000) + ']'.repeat(500_000)],
      [
        'deep arguments',
        'json',
        () => `[{"key": "a", "checks": [{"arguments": ${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}]}]`,
      ],
      ['a wide object', 'json', () => [Object.fromEntries(Array.from({ length: 300_000 }, (_, i) => [`f${i}`, i]))]],
      ['a wide list', 'json', () => [item('a', { script: new Array(1_000_000).fill(0) })]],
      ['reserved names', 'json', () => '[{"__proto__": {"key": "a"}, "constructor": 1, "toString": 2}]'],
      ['a huge number', 'json', () => '[{"key": 1e999, "maxTurns": 1e400}]'],
      ['U+0000', 'json', () => [item('a\u0000', { name: '\u0000', scenarioText: '\ud800' })]],
      [
        'a flood of wrong checks',
        'json',
        () => Array.from({ length: 5_000 }, (_, i) => item(`k${i}`, { checks: new Array(90).fill({}) })),
      ],
      [
        'a flood of patterns',
        'json',
        () =>
          Array.from({ length: 5_000 }, (_, i) =>
            item(`k${i}`, {
              checks: Array.from({ length: 40 }, (_, j) => ({ type: 'says', pattern: `\\pL{9}${i}x${j}` })),
            }),
          ),
      ],
      [
        'huge patterns',
        'json',
        () => [
          item('a', {
            checks: Array.from({ length: 100 }, (_, j) => ({
              type: 'says',
              pattern: `(?:${'\\pL{99}'.repeat(60)}${j}){99}`,
            })),
          }),
        ],
      ],
      [
        'billion laughs',
        'yaml',
        () =>
          `- &a [${'x,'.repeat(9)}]\n${'bcdefghij'
            .split('')
            .map((c, i) => `- &${c} [${`*${'abcdefghij'[i]},`.repeat(9)}]\n`)
            .join('')}`,
      ],
      [
        'an alias used many times',
        'yaml',
        () =>
          `- {key: &t "${'x'.repeat(90_000)}"}\n${Array.from({ length: 4_000 }, () => `- {name: *t, scenarioText: *t}\n`).join('')}`,
      ],
      ['an alias of itself', 'yaml', () => `- &a {key: *a, checks: [*a]}\n- &b [*b]\n`],
      ['deep YAML', 'yaml', () => '- '.repeat(1_000_000)],
      ['deep YAML flow', 'yaml', () => '[{a: '.repeat(300_000)],
      ['question marks', 'yaml', () => '? '.repeat(1_000_000)],
      ['many documents', 'yaml', () => '---\n'.repeat(1_000_000)],
      ['many keys', 'yaml', () => `- {${Array.from({ length: 300_000 }, (_, i) => `k${i}: 1`).join(', ')}}`],
      ['keys that are not strings', 'yaml', () => '- {1: a, null: b, [a]: c, {a: b}: d}\n- ? [x]\n  : y'],
      ['numbers that JSON does not have', 'yaml', () => `- {key: .inf, maxTurns: .nan, maxDurationSeconds: -.inf}`],
      ['reserved names in YAML', 'yaml', () => '- {__proto__: {key: a}, constructor: 1}'],
      ['merge keys', 'yaml', () => '- &a {key: a}\n- {<<: *a}'],
      ['a binary', 'yaml', () => '- !!binary aGVsbG8='],
      ['anchors', 'yaml', () => '&a '.repeat(500_000)],
      ['an endless line', 'csv', () => `key,name,scenarioText,personalityId\n"${'x'.repeat(9_000_000)}`],
      ['commas', 'csv', () => ','.repeat(9_000_000)],
      ['many lines', 'csv', () => `key,name,scenarioText,personalityId\n${'a,b,c,d\n'.repeat(5_000)}`],
      ['too many lines', 'csv', () => `key,name,scenarioText,personalityId\n${'a,,,\n'.repeat(1_000_000)}`],
      ['quotes', 'csv', () => '"'.repeat(5_000_000)],
      [
        'a deep cell',
        'csv',
        () =>
          `key,name,scenarioText,personalityId,checks\na,b,c,${files.personalityId},"${'['.repeat(100_000)}${']'.repeat(100_000)}"`,
      ],
      ['a NUL in the header', 'csv', () => 'key\u0000,name\n'],
    ];

    it.each(sample(attacks))('rejects %s with a clear error', async (_name, format, body) => {
      const start = performance.now();
      const { status, body: response } = await send(body(), MEDIA_TYPES[format]);
      expect([400, 413]).toContain(status);
      expect(response.message).not.toBe('');
      expect(messages(response).length).toBeGreaterThan(0);
      expect(messages(response).length).toBeLessThanOrEqual(1_001);
      for (const message of messages(response)) expect(message.length).toBeLessThan(1_000);
      const took = performance.now() - start;
      if (took > 1_000) process.stdout.write(`${_name}: ${Math.round(took)} ms\n`);
      expect(await stored()).toEqual([]);
      expect(({} as Record<string, unknown>)['key']).toBeUndefined();
    });
  });
});
