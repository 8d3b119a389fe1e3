import type { EvaluationInput } from '../definition/definition.js';
import { authored, inputViolations } from '../index.js';

const valid = {
  key: 'a',
  name: 'A',
  scenarioText: 'You want a table.',
  personalityId: 'c7e15a3b-2f68-4d90-a1b4-8e9d0c6f7251',
};
const script = [{ say: 'A table for four, please.' }];
const violations = (check: object, fields: object = {}) =>
  inputViolations('file', { ...valid, ...fields, checks: [check] });
const tool = (fields: object) => ({ type: 'calls_tool', tool: 'book', ...fields });
const says = (fields: object = {}) => ({ type: 'says', text: 'booked', ...fields });
const nested = (depth: number): object => (depth === 0 ? says() : { type: 'not', check: nested(depth - 1) });

describe('checks', () => {
  it.each([
    says({ turn: 'first' }),
    says({ turn: 0 }),
    says({ turn: 3, after: { tool: 'book' }, before: { text: 'goodbye', speaker: 'caller' } }),
    says({ times: { min: 2, max: 2 } }),
    says({ times: { min: 0, max: 2 } }),
    { type: 'never_says', text: 'sorry', times: { min: 3 } },
    tool({ argumentsSchema: { properties: { people: { minimum: 1 } } } }),
    tool({ argumentsSchema: { properties: { name: { pattern: '^[a-z]*$' } } } }),
    tool({ arguments: { filter: { price: 3 } }, times: { max: 1 } }),
    { type: 'in_order', events: [{ text: 'a' }, { tool: 'b' }, { tool: 'b', arguments: { c: 1 } }] },
    { type: 'any_of', checks: [says(), { type: 'all_of', checks: [says({ text: 'x' }), tool({})] }] },
    { type: 'when', if: says(), then: tool({}) },
    nested(2),
  ])('accepts %j', (check) => expect(violations(check)).toEqual([]));

  it.each<[object, string[]]>([
    [says({ turn: 'second' }), ['checks[0].turn must be a whole number, first or last']],
    [says({ turn: -1 }), ['checks[0].turn must not be less than 0']],
    [says({ times: {} }), ['checks[0].times must have at least one of min, max']],
    [says({ times: { min: 3, max: 2 } }), ['checks[0].times.max must not be less than times.min (3)']],
    [says({ times: { min: 0 } }), ['checks[0].times.min must be at least 1, or the check could never fail']],
    [
      { type: 'never_says', text: 'a', times: { max: 1 } },
      ['checks[0].times.max is not possible in never_says: use times.min, or says'],
    ],
    [says({ after: { text: 'a', tool: 'b' } }), ['checks[0].after must have exactly one of text, pattern, tool']],
    [says({ after: { pattern: '(' } }), [expect.stringContaining('checks[0].after.pattern must be an RE2')]],
    [
      says({ before: { text: 'pizza', speaker: 'caller' } }),
      ['checks[0].before is never said by the script, so the check could never hold'],
    ],
    [
      tool({ arguments: { people: { $gt: 3 } } }),
      [
        'checks[0].arguments.people must be a value, not the operator $gt: describe ranges and choices with argumentsSchema',
      ],
    ],
    [
      { type: 'in_order', events: [{ text: 'a' }, { tool: 'b', arguments: { c: [{ $in: [1] }] } }] },
      [
        'checks[0].events[1].arguments.c[0] must be a value, not the operator $in: describe ranges and choices with argumentsSchema',
      ],
    ],
    [tool({ argumentsSchema: true }), ['checks[0].argumentsSchema must be an object']],
    [
      tool({ argumentsSchema: { properties: { people: { minimum: 'one' } } } }),
      ['checks[0].argumentsSchema.properties.people.minimum must be number (JSON Schema 2020-12)'],
    ],
    [
      tool({ argumentsSchema: { $ref: 'https://example.com/s' } }),
      ['checks[0].argumentsSchema.$ref must stay inside the schema, as in "#/$defs/name"'],
    ],
    [
      tool({ argumentsSchema: { properties: { name: { pattern: '(?=a)' } } } }),
      [expect.stringContaining('checks[0].argumentsSchema.properties.name.pattern must be an RE2 regular expression')],
    ],
    [
      tool({ argumentsSchema: { properties: { name: { pattern: '(\\pL{9}){99}' } } } }),
      [expect.stringContaining('argumentsSchema.properties.name.pattern must be a smaller regular expression')],
    ],
    [
      tool({ argumentsSchema: { description: 'x'.repeat(65_536) } }),
      ['checks[0].argumentsSchema must have at most 65536 bytes (64 KiB) as JSON'],
    ],
    [{ type: 'in_order', events: [{ text: 'a' }] }, ['checks[0].events must have at least 2 entries']],
    [{ type: 'any_of', checks: [] }, ['checks[0].checks must not be empty']],
    [
      { type: 'any_of', checks: [{ type: 'sings' }] },
      [expect.stringContaining('checks[0].checks[0].type must be one of says')],
    ],
    [{ type: 'not', check: { type: 'says' } }, ['checks[0].check must have exactly one of text, pattern']],
    [
      { type: 'all_of', checks: [{ ...says(), weight: 2 }] },
      ['checks[0].checks[0].weight has no effect inside another check: set it on the outermost one'],
    ],
    [
      { type: 'when', if: says({ pattern: '(', text: undefined }), then: says() },
      [expect.stringContaining('checks[0].if.pattern must be an RE2')],
    ],
    [
      { type: 'not', check: { type: 'max_turns', turns: 99 } },
      ['checks[0].check.turns must be less than maxTurns (40), or the check could never fail'],
    ],
    [nested(3), ['checks[0].check.check.check is nested too deeply: checks may contain checks over 2 levels']],
  ])('rejects %j', (check, issues) => expect(violations(check, { script })).toEqual(issues));

  it('limits the schemas of an evaluation together', () => {
    const checks = Array.from({ length: 5 }, (_, n) =>
      tool({ tool: `t${n}`, argumentsSchema: { title: 'x'.repeat(60_000) } }),
    );
    expect(inputViolations('file', { ...valid, checks })).toEqual([
      'checks[4].argumentsSchema exceeds 262144 bytes (256 KiB) for all schemas of an evaluation',
    ]);
  });

  it('have their defaults and the order of fields filled in, also inside other checks', () => {
    const check = {
      then: { tool: 'book', type: 'calls_tool', after: { text: 'yes', speaker: 'caller' } },
      type: 'when',
      if: { text: 'free', type: 'says', times: { max: 2, min: 1 }, partOfWord: false },
    };
    const { checks } = authored({ ...valid, checks: [check] } as unknown as EvaluationInput, '');
    expect(JSON.stringify(checks)).toBe(
      '[{"type":"when","if":{"type":"says","text":"free","speaker":"agent","times":{"min":1,"max":2}},' +
        '"then":{"type":"calls_tool","tool":"book","after":{"text":"yes","speaker":"caller"}},"weight":1,"required":true}]',
    );
  });
});
