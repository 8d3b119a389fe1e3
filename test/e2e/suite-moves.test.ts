import fc from 'fast-check';
import { parse as parseYaml } from 'yaml';
import { exampleFileItem, examplePersonality, FILE_FIELD_NAMES } from '../../libs/evaluation-definition/index.js';
import { shareOf } from '../../libs/statistics/testing/sample.js';
import { anySuite } from '../support/any-evaluations.js';
import { EvaluationFiles, type Format, FORMATS, MEDIA_TYPES, messages } from '../support/evaluation-files.js';

/** Another valid value of some fields of the example. */
const OTHER_VALUES = { name: 'Other', critical: false, tags: [], checks: [], maxTurns: 19 };

describe('files that move between workspaces', () => {
  let files: EvaluationFiles;

  beforeAll(async () => {
    files = await EvaluationFiles.open();
  });
  afterAll(() => files.app.close());

  it('JSON and YAML are byte for byte the same when exported again, and CSV if the personalities exist', async () => {
    let moved = 0;
    const move = async (text: string, format: Format, prepare: (other: EvaluationFiles) => Promise<unknown>) => {
      const other = await files.inNewWorkspace();
      const id = await other.createAgent();
      await prepare(other);
      const { status, body } = await other.send(id, text, MEDIA_TYPES[format]);
      expect([format, status, messages(body)]).toEqual([format, 200, []]);
      expect(await other.exported(id, format)).toBe(text);
      moved += body.data.created;
      return { other, id };
    };
    const nothing = () => Promise.resolve();
    await fc.assert(
      fc.asyncProperty(anySuite, async (suite) => {
        const from = await files.inNewWorkspace();
        const id = await from.createAgent();
        const { status, body } = await from.send(id, suite);
        expect([status, messages(body)]).toEqual([200, []]);
        const [json, yaml, csv] = await Promise.all(FORMATS.map((format) => from.exported(id, format)));
        const copy = await move(json ?? '', 'json', nothing);
        await move(yaml ?? '', 'yaml', nothing);
        // The formats contain the same.
        expect(await copy.other.exported(copy.id, 'yaml')).toBe(yaml);
        expect(parseYaml(yaml ?? '')).toEqual(JSON.parse(json ?? ''));
        const { personalities } = suite;
        await move(csv ?? '', 'csv', async (other) =>
          other.send(await other.createAgent(), { personalities, evaluations: [] }),
        );
      }),
      { numRuns: shareOf(50) },
    );
    expect(moved).toBeGreaterThan(shareOf(200));
  }, 300_000);

  it('keeps every field of an evaluation', async () => {
    const filled = { appliesTo: { type: 'says', pattern: 'book' }, history: [{ caller: 'Hello.' }] };
    const example: Record<string, unknown> = { ...exampleFileItem(), ...filled };
    const agentId = await files.createAgent({ phoneNumber: null });
    expect(Object.keys(example)).toEqual(FILE_FIELD_NAMES.filter((name) => name !== 'personalityId'));
    expect((await files.send(agentId, { personalities: [examplePersonality], evaluations: [example] })).status).toBe(
      200,
    );
    for (const [format, parse] of [
      ['json', (text: string): unknown => JSON.parse(text)],
      ['yaml', (text: string): unknown => parseYaml(text)],
    ] as const) {
      const { evaluations, personalities } = parse(await files.exported(agentId, format)) as Record<string, object[]>;
      expect(evaluations).toMatchObject([example]);
      expect(personalities).toMatchObject([examplePersonality]);
    }
    // A changed field is recognised as a change.
    for (const [field, other] of Object.entries(OTHER_VALUES)) {
      const { body } = await files.send(agentId, [{ ...example, [field]: other }], MEDIA_TYPES.json, '?dryRun=true');
      expect([field, messages(body), body.data?.updated]).toEqual([field, [], 1]);
    }
  });
});
