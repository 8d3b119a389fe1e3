import { Ajv } from 'ajv';
import { withExpectations } from './expectations.js';
import { authored, fileSchema, inputViolations, normalise } from './index.js';

const evaluation = {
  key: 'expect',
  name: 'Expects',
  scenarioText: 'You want a table.',
  personalityId: 'c7e15a3b-2f68-4d90-a1b4-8e9d0c6f7251',
};
const violations = (...script: object[]) => inputViolations('file', { ...evaluation, script });
const ONCE = { type: 'calls_tool', tool: 'find', times: { max: 1 } };

describe('expect', () => {
  it('keeps its place in the script, with the defaults of checks', () => {
    const script = [
      { say: 'Two people.', expect: [ONCE] },
      {
        answers: [{ when: { says: { text: 'name' } }, say: 'Rossi.', expect: [{ type: 'speakable' }] }],
        expect: [ONCE],
      },
    ];
    expect(violations(...script)).toEqual([]);
    const judged = { weight: 1, required: true };
    expect(normalise({ script }).script).toEqual([
      { say: 'Two people.', expect: [{ ...ONCE, ...judged }] },
      {
        answers: [{ ...script[1]!.answers![0], expect: [{ type: 'speakable', ...judged }] }],
        expect: [{ ...ONCE, ...judged }],
      },
    ]);
  });

  it('becomes checks behind the others, named by their lines', () => {
    const definition = authored(
      {
        ...evaluation,
        script: [
          { say: ['Two people,', { pauseMs: 500 }, 'at seven.'], expect: [ONCE, { type: 'speakable', name: 'Plain' }] },
          { when: { says: { text: 'more' } }, say: 'No.', expect: [{ type: 'max_latency_ms', ms: 900 }] },
          { answers: [{ when: { says: { text: 'name' } }, say: 'Rossi.', expect: [ONCE] }], expect: [ONCE] },
          { say: 'No.', expect: [{ type: 'max_latency_ms', ms: 900 }] },
          { end: 'Done' },
        ],
        checks: [{ type: 'ends_by', by: 'caller' }],
      },
      '',
    );
    const { script, checks } = withExpectations(definition);
    expect(checks.map(({ name, step, answer, isOptional }) => [name, step, answer, isOptional])).toEqual([
      [undefined, undefined, undefined, undefined],
      ['After "Two people, at seven.": agent calls find, exactly once', 0, undefined, undefined],
      ['After "Two people, at seven.": Plain', 0, undefined, undefined],
      ['After "No.": every answer starts within 900 ms', 1, undefined, true],
      ['After each line of script[2]: agent calls find, exactly once', 2, undefined, true],
      ['After "Rossi.": agent calls find, exactly once', 2, 0, true],
      ['After "No.": every answer starts within 900 ms (script[3])', 3, undefined, undefined],
    ]);
    expect(JSON.stringify(script)).not.toContain('expect');
    expect(withExpectations({ script, checks })).toEqual({ script, checks });
    // As runs store it.
    expect(normalise({ script, checks }).checks).toEqual(checks);
  });

  it.each([
    [
      [{ say: 'Hi', expect: [{ type: 'max_turns', turns: 3 }] }],
      'script[0].expect[0].type max_turns is about the whole call: write it in checks',
    ],
    [
      [{ say: 'Hi', expect: [{ type: 'any_of', checks: [{ type: 'keeps_speaking' }, ONCE] }] }],
      'script[0].expect[0].checks[0].type keeps_speaking is about the whole call: write it in checks',
    ],
    [
      [{ say: 'Hi', expect: [{ ...ONCE, turn: 2 }] }],
      'script[0].expect[0].turn is not possible in expect, which is about one turn: remove it',
    ],
    [
      [{ say: 'Hi', expect: [{ type: 'says', text: 'hi', speaker: 'caller' }] }],
      'script[0].expect[0].speaker must be agent: expect is about what the agent does after the line; write others in checks',
    ],
    [
      [{ say: 'Hi', expect: [{ ...ONCE, after: { text: 'hi', speaker: 'caller' } }] }],
      'script[0].expect[0].after.speaker must be agent: expect is about what the agent does after the line; write others in checks',
    ],
    ...[{ waitSeconds: 1 }, { noise: 'door' }, { press: '1' }, { end: 'Done' }].map((step): [object[], string] => [
      [{ say: 'Hi' }, { ...step, expect: [ONCE] }],
      'script[1] must have at least one of say, answers: write expect under the line before this step, which lasts until the caller speaks again',
    ]),
    [
      [{ say: 'Hi', expect: ['The agent says hello'] }],
      'script[0].expect[0] must be an object, such as "criterion: The agent names the price"',
    ],
    [
      [{ say: 'Hi', expect: [{ type: 'calls_tool', tool: 'find', args: { people: 2 } }] }],
      'script[0].expect[0].args is not a known field; write arguments',
    ],
    [[{ say: 'Hi', expect: [ONCE, ONCE] }], 'script[0].expect[1] duplicates script[0].expect[0]'],
    [
      [{ say: 'Hi', expect: [ONCE, { ...ONCE, type: 'never_calls_tool', times: { min: 2, max: 3 } }] }],
      'script[0].expect[1].times.max is not possible in never_calls_tool: use times.min, or calls_tool',
    ],
    [
      [
        {
          say: 'Hi',
          expect: [
            { type: 'says', text: 'a', name: 'A' },
            { ...ONCE, name: 'A' },
          ],
        },
      ],
      'script[0].expect[1].name must be unique: script[0].expect[0] has the same name',
    ],
    [
      [{ answers: [{ when: { says: { text: 'x' } }, say: 'y', expect: [{ type: 'says', pattern: '(' }] }] }],
      'script[0].answers[0].expect[0].pattern must be an RE2 regular expression: missing closing )',
    ],
    [[{ say: 'Hi', expect: [{ ...ONCE, step: 3 }] }], 'script[0].expect[0].step is not a known field'],
    [
      Array.from({ length: 11 }, (_, index) => ({
        say: `Line ${index}`,
        expect: Array.from({ length: 10 }, (__, tool) => ({ type: 'calls_tool', tool: `t${tool}` })),
      })),
      'script expects 110 things of its lines; at most 100 are possible',
    ],
    [
      [{ say: 'Hi', expect: Array.from({ length: 21 }, (_, tool) => ({ type: 'calls_tool', tool: `t${tool}` })) }],
      'script[0].expect must have at most 20 entries',
    ],
  ])('is refused with the place and what to do instead: %#', (script, text) => {
    expect(violations(...script)).toContainEqual(expect.stringContaining(text));
  });

  it('is found by the schema for editors', () => {
    const { definitions } = fileSchema('id', 10) as { definitions: Record<string, { properties: object }> };
    expect(definitions['ScriptStep']!.properties).toHaveProperty('expect.items', { $ref: '#/definitions/Check' });
    expect(definitions['ScriptAnswer']!.properties).toHaveProperty('expect');
  });

  it('is marked by the schema for editors if it is a criterion without its text', () => {
    const { definitions } = fileSchema('id', 10);
    const ajv = new Ajv({ strict: false });
    const validate = ajv.compile({ definitions, $ref: '#/definitions/Check' });
    const valid = [{ criterion: 'Polite.' }, { type: 'criterion', criterion: 'Polite.' }, { type: 'speakable' }];
    const invalid = [{ type: 'criterion' }, { type: 'criterion', name: 'x' }, {}, { criterion: 1 }, { type: 'says' }];
    expect([...valid, ...invalid].map((check) => validate(check))).toEqual([
      ...valid.map(() => true),
      ...invalid.map(() => false),
    ]);
  });

  it('takes variables, also where they decide what is compared', () => {
    const script = [{ say: 'For {{people}}.', expect: [{ type: 'says', pattern: '(?i){{people}} (people|guests)' }] }];
    const withRows = { ...evaluation, script, variables: [{ people: 'four' }, { people: '4 (four)' }] };
    expect(inputViolations('file', withRows)).toEqual([]);
    expect(
      inputViolations('file', {
        ...evaluation,
        script: [{ say: 'x', expect: [{ type: 'says', text: '{{x}}' }] }],
        variables: [{ y: 1 }],
      }),
    ).toEqual([expect.stringContaining('script[0].expect[0].text uses the unknown variable "x"')]);
  });
});
