import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { load } from 'js-yaml';
import { CHECK_DEFINITIONS } from '../../libs/evaluation-definition/index.js';
import { EvaluationFiles } from '../support/evaluation-files.js';

const PATH = '/docs/evaluations.schema.json';

describe('the JSON Schema of evaluation files', () => {
  let files: EvaluationFiles;
  let schema: any;
  let validate: ValidateFunction;
  const item = (key: string, fields?: object) => files.item(key, fields);

  beforeAll(async () => {
    files = await EvaluationFiles.open();
    schema = (await files.client.get(PATH)).body;
    const ajv = new Ajv({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
    addFormats.default(ajv.addVocabulary(['patternErrorMessage']));
    validate = ajv.compile(schema as object);
  });
  afterAll(() => files.app.close());

  it('is served without a key and counted against the client address', async () => {
    const remaining: number[] = [];
    for (let i = 0; i < 2; i++) {
      const { status, headers } = await files.client.as(undefined).get(PATH);
      expect([status, headers.get('content-type')]).toEqual([200, 'application/schema+json; charset=utf-8']);
      for (const name of ['limit', 'reset']) expect(headers.get(`x-ratelimit-${name}`)).toMatch(/^\d+$/);
      remaining.push(Number(headers.get('x-ratelimit-remaining')));
    }
    expect(remaining[1]).toBe((remaining[0] ?? 0) - 1);
  });

  it('is in draft-07, without keywords of later drafts', () => {
    expect(schema.$schema).toBe('http://json-schema.org/draft-07/schema#');
    const text = JSON.stringify(schema);
    for (const keyword of ['$defs', 'dependentRequired', 'discriminator', 'unevaluatedProperties', 'prefixItems']) {
      expect(text).not.toContain(keyword);
    }
  });

  it('has no default of null, which keeps yaml-language-server 2.0 from completing the fields around it', () => {
    expect(JSON.stringify(schema)).not.toContain('"default":null');
  });

  it('describes checks by conditions on their type, so that editors list all types', () => {
    const { Check } = schema.definitions;
    expect(Check.properties.type.enum).toEqual(Object.keys(CHECK_DEFINITIONS));
    expect(Check.allOf).toHaveLength(Object.keys(CHECK_DEFINITIONS).length + 1);
    expect(Check.oneOf).toBeUndefined();
  });

  it('describes every field', () => {
    const undescribed: string[] = [];
    const look = (node: any, path: string): void => {
      if (typeof node !== 'object' || node === null) return;
      for (const [name, property] of Object.entries((node.properties ?? {}) as Record<string, any>)) {
        if (typeof property.description !== 'string') undescribed.push(`${path}.${name}`);
      }
      for (const [name, child] of Object.entries(node)) {
        if (name !== 'examples' && name !== 'if') look(child, `${path}.${name}`);
      }
    };
    look(schema, '');
    expect(undescribed).toEqual([]);
  });

  it('accepts its own examples, which can be imported', async () => {
    const [example] = schema.examples;
    expect([validate(example), validate.errors]).toEqual([true, null]);
    expect((await files.send(await files.createAgent(), example)).status).toBe(200);
  });

  it('accepts every example file', () => {
    const folder = path.resolve(__dirname, '../../docs/examples');
    const texts = readdirSync(folder).map((name) => readFileSync(path.join(folder, name), 'utf8'));
    const suites = texts.filter((text) => /^evaluations:/m.test(text));
    expect(suites.length).toBeGreaterThan(0);
    for (const text of suites) expect([validate(load(text)), validate.errors]).toEqual([true, null]);
  });

  it('accepts what export writes', async () => {
    const agentId = await files.createAgent();
    const script = [
      { say: 'Hi' },
      {
        answers: [{ when: { says: { text: 'name' } }, say: 'Rossi' }],
        until: { says: { text: 'ok' } },
        otherwise: 'Hm?',
      },
    ];
    const checks = [
      { type: 'says_before', first: { text: 'a', partOfWord: true }, then: { pattern: 'b' } },
      { type: 'max_latency_ms', ms: 900 },
    ];
    const { status } = await files.send(agentId, [item('a', { script, checks, criteria: [{ text: 'Polite.' }] })]);
    expect(status).toBe(200);
    for (const value of [
      JSON.parse(await files.exported(agentId, 'json')) as unknown,
      load(await files.exported(agentId, 'yaml')),
    ]) {
      expect([validate(value), validate.errors]).toEqual([true, null]);
    }
  });

  it.each([
    ['an empty object', {}],
    ['an empty item', [{}]],
    ['an unknown field of the file', { evaluation: [], evaluations: [] }],
    ['an unknown field', { evaluations: [{ colour: 1 }] }],
    ['a misspelt field of a personality', { personalities: [{ name: 'A', promt: '' }], evaluations: [] }],
    ['a personality without a name', { personalities: [{ prompt: '' }], evaluations: [] }],
    ['a temperature out of range', { personalities: [{ name: 'A', temperature: 3 }], evaluations: [] }],
    ['an unknown type of check', { evaluations: [{ checks: [{ type: 'sings' }] }] }],
    ['a misspelt field of a check', { evaluations: [{ checks: [{ type: 'says', txt: 'a' }] }] }],
    ['two actions in one step', { evaluations: [{ script: [{ say: 'x', end: 'y' }] }] }],
    ['until without otherwise', { evaluations: [{ script: [{ answers: [], until: { says: { text: 'x' } } }] }] }],
    ['a personality by name and id', { evaluations: [{ personality: 'A' }] }],
  ])('rejects %s', (_name, file: any) => {
    // Complete except for the planted fault.
    const evaluations = file.evaluations?.map((fields: object) => item('a', fields));
    const planted = Array.isArray(file) ? file : { ...file, ...(evaluations && { evaluations }) };
    expect(validate(planted)).toBe(false);
    expect(validate({ personalities: [{ name: 'A' }], evaluations: [item('a')] })).toBe(true);
  });
});
