import { inputViolations } from '../index.js';
import { DATE_FORMS } from './dates.js';
import { placeholders, replacedLength, replaceVariables, withVariables } from './variables.js';

const row = { city: 'Rome', people: 4, isVip: true, price: '$4.50 (approx.)', nested: '{{city}}' };

describe('replaceVariables', () => {
  it.each([
    ['A table in {{city}} for {{people}}: {{isVip}}', 'A table in Rome for 4: true'],
    ['{{city}}{{city}}', 'RomeRome'],
    ['{{nested}}', '{{city}}'],
    ['<{{nested}}>', '<{{city}}>'],
    ['\\{{city}} is {{city}}', '{{city}} is Rome'],
    ['{{unknown}} {{', '{{unknown}} {{'],
    ['{{city}} {{ \\{{city', 'Rome {{ {{city'],
  ])('%s becomes %s', (text, expected) => {
    expect(replaceVariables(text, row)).toBe(expected);
  });

  // ReDoS: a search that begins again at each of these braces takes minutes for what one request may contain.
  it('are found in texts of nothing but braces', () => {
    const toolResults = Array.from({ length: 15 }, () => ({ tool: 'a', times: 1, result: '{'.repeat(65_000) }));
    expect(placeholders({ toolResults })).toEqual([]);
    expect(replaceVariables({ toolResults }, row)).toEqual({ toolResults });
  });

  it('keeps the type of a value that is the whole text', () => {
    expect(replaceVariables({ people: '{{people}}', vip: ['{{isVip}}'], city: '{{city}}' }, row)).toEqual({
      people: 4,
      vip: [true],
      city: 'Rome',
    });
  });

  it('replaces neither names of fields nor values of other types', () => {
    const value = { '{{city}}': 1, list: [null, 2, false] };
    expect(replaceVariables(value, row)).toEqual(value);
  });

  it('inserts values literally into regular expressions, but not into data named pattern', () => {
    expect(replaceVariables({ pattern: '(?i)costs {{price}}' }, row)).toEqual({
      pattern: '(?i)costs \\$4\\.50 \\(approx\\.\\)',
    });
    expect(replaceVariables({ pattern: '{{people}}' }, row)).toEqual({ pattern: '4' });
    expect(replaceVariables({ arguments: { pattern: '{{price}}' } }, row)).toEqual({
      arguments: { pattern: '$4.50 (approx.)' },
    });
  });

  it('has a length that is known before', () => {
    const value = { text: 'in {{city}} \\{{x}}', list: ['{{price}}', 'none'] };
    // The escape is counted as it is written.
    expect(replacedLength(value)(row)).toBe(JSON.stringify(replaceVariables(value, row)).length + 2);
  });
});

describe('placeholders', () => {
  it('have the path of their text', () => {
    expect(placeholders({ checks: [{ text: '{{a}} {{ b }} \\{{c}}' }] })).toEqual([
      { name: 'a', path: ['checks', 0, 'text'] },
      { name: ' b ', path: ['checks', 0, 'text'] },
    ]);
  });
});

describe('withVariables', () => {
  it('replaces in scenario, instructions, script, checks, criteria and results of tools only', () => {
    const text = '{{city}}';
    const evaluation = {
      name: text,
      scenarioText: text,
      generalInstructions: text,
      script: [{ say: text }],
      checks: [{ type: 'says' as const, text, speaker: 'agent' as const, weight: 1, required: true }],
      criteria: [{ text, weight: 1, required: true }],
      toolResults: [{ tool: 'x', result: text }],
    };
    expect(JSON.stringify(withVariables(evaluation, row)).match(/Rome/g)).toHaveLength(6);
    expect(withVariables(evaluation, row)).toMatchObject({ name: text, toolResults: [{ result: 'Rome' }] });
    expect(withVariables(evaluation, null)).toBe(evaluation);
  });
});

describe('violations of evaluations with variables', () => {
  const valid = {
    key: 'table',
    name: 'Books a table',
    scenarioText: 'You want a table for {{people}}.',
    personalityId: 'c7e15a3b-2f68-4d90-a1b4-8e9d0c6f7251',
    variables: [
      { people: 4, day: 'Friday' },
      { people: 2, day: 'Sunday' },
    ],
  };
  const violations = (fields: object) => inputViolations('file', { ...valid, ...fields });

  it('accepts variables in texts and in typed fields, and escaped braces', () => {
    expect(
      violations({
        script: [{ say: 'On {{day}}, for {{people}}.' }, { waitSeconds: '{{people}}' }],
        checks: [
          { type: 'says', pattern: '(?i)table for {{people}}' },
          { type: 'calls_tool', tool: 'book_table', arguments: { people: '{{people}}' } },
          { type: 'max_turns', turns: '{{people}}' },
          { type: '{{kind}}', text: 'welcome' },
        ],
        variables: valid.variables.map((one) => ({ ...one, kind: 'says' })),
        criteria: [{ text: 'The agent repeats {{day}}. \\{{braces}} are literal.' }],
      }),
    ).toEqual([]);
  });

  it('replaces nothing without variables', () => {
    const criteria = [{ text: 'Says {{anything}} and \\{{more}}.' }];
    expect(violations({ variables: [], criteria })).toEqual([]);
    expect(violations({ variables: [], checks: [{ type: 'max_turns', turns: '{{people}}' }] })).toEqual([
      'checks[0].turns must be a whole number',
    ]);
  });

  it.each<[object, string[]]>([
    [
      { variables: 'x' },
      ['variables must be a list, such as [{"people":4,"time":"19:30"},{"people":2,"time":"20:00"}]'],
    ],
    [{ variables: [7] }, ['variables[0] must be an object']],
    [{ variables: [{}] }, ['variables[0] must not be empty']],
    [{ variables: [{ people: null }] }, ['variables[0].people must be a string or a number or true or false']],
    [{ variables: [{ people: 'x'.repeat(2_001) }] }, ['variables[0].people must have at most 2000 characters']],
    [{ variables: [{ people: 1, '1st': 1 }] }, [expect.stringMatching(/^variables\[0\] must have only names of/)]],
    [{ variables: [{ people: 1 }, { day: 1 }] }, ['variables[1] must have the same names as variables[0]: people']],
    [
      {
        variables: [
          { people: 1, day: 2 },
          { day: 2, people: 1 },
        ],
      },
      ['variables[1] duplicates variables[0]'],
    ],
    [
      { variables: Array.from({ length: 201 }, (_, people) => ({ people })) },
      ['variables must have at most 200 entries'],
    ],
    [
      { script: [{ say: 'In {{city}}' }], criteria: [{ text: '{{ day }}' }] },
      [
        `script[0].say uses the unknown variable "city"; known are day, people and ${DATE_FORMS}; \\{{ stands for {{ itself`,
        `criteria[0].text uses the unknown variable " day "; known are day, people and ${DATE_FORMS}; \\{{ stands for {{ itself`,
      ],
    ],
  ])('rejects %j', (fields, expected) => {
    expect(violations(fields)).toEqual(expected);
  });

  it('accepts 200 rows and values of 2,000 characters', () => {
    const rows = Array.from({ length: 200 }, (_, people) => ({ people, note: '\u{1f600}'.repeat(2_000) }));
    expect(violations({ variables: rows })).toEqual([]);
  });

  it('applies limits and rules to the replaced evaluation, and names the row', () => {
    expect(
      violations({
        scenarioText: `${'x'.repeat(99_999)}{{people}}{{people}}`,
        checks: [{ type: 'max_turns', turns: '{{people}}' }],
        variables: [{ people: 3 }, { people: 300 }],
      }),
    ).toEqual([
      'scenarioText must have at most 100000 characters',
      'checks[0].turns must not be greater than 200 with the values of variables[1]',
    ]);
    expect(
      violations({
        criteria: [{ text: 'Says {{people}}.' }, { text: 'Says {{day}}.' }],
        variables: [
          { people: 'a', day: 'a' },
          { people: 'a', day: 'b' },
        ],
      }),
    ).toEqual(['criteria[1].text duplicates criteria[0] with the values of variables[0]']);
  });

  it('limits the size of all rows together before replacing anything', () => {
    const scenarioText = '{{people}}'.repeat(9_000);
    const variables = Array.from({ length: 200 }, (_, index) => ({ people: `${index}${'x'.repeat(1_990)}` }));
    const start = performance.now();
    expect(violations({ scenarioText, variables })).toEqual([
      'variables must have at most 2 million characters once the values of all rows are inserted',
    ]);
    expect(performance.now() - start).toBeLessThan(10_000);
  });

  it('replaces in results of tools, and refuses an unknown name there', () => {
    const toolResults = [
      { tool: 'find', same: { people: '{{people}}' }, result: { text: 'For {{people}} on {{dya}}' } },
      { tool: 'find', times: '{{people}}', result: { pattern: '{{day}}' } },
    ];
    expect(violations({ toolResults })).toEqual([
      `toolResults[0].result.text uses the unknown variable "dya"; known are day, people and ${DATE_FORMS}; \\{{ stands for {{ itself`,
    ]);
  });

  it('counts results of tools that no row changes once, however large they are', () => {
    const toolResults = Array.from({ length: 40 }, (_, n) => ({ tool: `t${n}`, result: 'x'.repeat(60_000) }));
    expect(violations({ toolResults })).toEqual([]);
  });

  it('leaves templates of a change to the merged evaluation, unless it has the variables', () => {
    const checks = [
      { type: 'max_turns', turns: '{{people}}' },
      { type: 'max_turns', turns: 'x' },
    ];
    expect(inputViolations('change', { checks })).toEqual(['checks[1].turns must be a whole number']);
    expect(inputViolations('change', { checks: [checks[0]], variables: [{ people: 3 }] })).toEqual([]);
    expect(inputViolations('change', { checks: [checks[0]], variables: [{ people: 'many' }] })).toEqual([
      'checks[0].turns must be a whole number',
    ]);
  });
});

describe('violations of tool results and language', () => {
  const violations = (fields: object) => inputViolations('change', fields);

  it.each<[object, string[]]>([
    [
      {
        toolResults: [
          { tool: 'x', result: null },
          { tool: 'y', arguments: { a: 1 }, result: { b: [1] } },
        ],
      },
      [],
    ],
    [{ toolResults: [{ tool: 'x' }] }, ['toolResults[0] must have exactly one of result, results, error, noAnswer']],
    [
      { toolResults: [{ tool: 'x', result: 1, error: 'down' }] },
      ['toolResults[0] must have exactly one of result, results, error, noAnswer'],
    ],
    [{ toolResults: [{ tool: 'x', noAnswer: false }] }, ['toolResults[0].noAnswer must be one of true']],
    [
      { toolResults: [{ tool: 'x', results: [1], times: 1 }] },
      ['toolResults[0].times cannot be combined with results'],
    ],
    [
      { toolResults: [{ tool: 'x', noAnswer: true, delayMs: 5 }] },
      ['toolResults[0].delayMs cannot be combined with noAnswer'],
    ],
    [
      { toolResults: [{ tool: 'x', result: 1, delayMs: 30_001 }] },
      ['toolResults[0].delayMs must not be greater than 30000'],
    ],
    [{ toolResults: [{ tool: 'x', result: 1, same: {} }] }, ['toolResults[0].same must not be empty']],
    [
      { toolResults: [{ tool: 'x', result: 1, argumentsSchema: { properties: { a: { pattern: '(?=a)' } } } }] },
      [expect.stringMatching(/^toolResults\[0\]\.argumentsSchema\.properties\.a\.pattern /)],
    ],
    [
      {
        toolResults: [
          { tool: 'x', result: 1, times: 1 },
          { tool: 'x', results: [2, 3] },
          { tool: 'x', same: { a: 1 }, result: 4 },
          { tool: 'x', same: { a: 2 }, result: 4 },
          { tool: 'x', result: 5 },
          { tool: 'x', argumentsSchema: {}, result: 6 },
        ],
      },
      ['toolResults[5] never applies: toolResults[4] fits the same calls'],
    ],
    [
      { toolResults: [{ tool: 'x', result: 'x'.repeat(65_536) }] },
      ['toolResults[0] must have at most 65536 bytes as JSON'],
    ],
    [{ toolResults: [{ tool: ' x', result: 1 }] }, ['toolResults[0].tool must not begin or end with white space']],
    [
      {
        toolResults: [
          { tool: 'x', result: 1 },
          { tool: 'x', arguments: { a: 1 }, result: 2 },
        ],
      },
      ['toolResults[1] never applies: toolResults[0] fits the same calls'],
    ],
    [
      { toolResults: Array.from({ length: 51 }, (_, n) => ({ tool: `t${n}`, result: 1 })) },
      ['toolResults must have at most 50 entries'],
    ],
    [{ history: [{ caller: 'a' }, { agent: 'b' }, { tool: 'c', arguments: {}, result: null }] }, []],
    [{ history: [{ caller: 'a', agent: 'b' }] }, ['history[0] must have exactly one of caller, agent, tool']],
    [{ history: [{ agent: 'b', result: 1 }] }, ['history[0].tool is required with result']],
    [{ history: Array.from({ length: 101 }, () => ({ agent: 'b' })) }, ['history must have at most 100 entries']],
    [
      { history: Array.from({ length: 40 }, () => ({ agent: 'b'.repeat(9_000) })) },
      ['history must have at most 262144 bytes (256 KiB) as JSON'],
    ],
    [{ language: 'de-AT' }, []],
    [{ language: null }, []],
    [{ language: 'zh-Hant-TW' }, []],
    [{ language: 'jp-JP' }, ['language must be a BCP 47 language tag, for example en-US']],
    [{ language: 'English' }, ['language must be a BCP 47 language tag, for example en-US']],
    [{ language: '' }, ['language must be a BCP 47 language tag, for example en-US']],
    [{ language: 'de_DE' }, ['language must be a BCP 47 language tag, for example en-US']],
  ])('of %j', (fields, expected) => {
    expect(violations(fields)).toEqual(expected);
  });
});
