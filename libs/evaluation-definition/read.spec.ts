import { authored, CHECK_DEFINITIONS, inputViolations } from './index.js';
import type { EvaluationInput } from './definition/definition.js';
import { exampleOf, FIELD_NAMES } from './schema/schema.js';

const valid = {
  key: 'table-for-four',
  name: 'Books a table',
  scenarioText: 'You want a table for four.',
  personalityId: 'c7e15a3b-2f68-4d90-a1b4-8e9d0c6f7251',
};
const violations = (fields: object) => inputViolations('file', { ...valid, ...fields });
const checkViolations = (check: object, fields: object = {}) => violations({ ...fields, checks: [check] });
const ANSWERS = [
  {
    answers: [
      { when: { says: { text: 'what' } }, say: 'A table on Friday.' },
      { when: { says: { text: 'how many' } }, say: 'Four people.' },
    ],
    until: { says: { text: 'booked' } },
    otherwise: 'Yes, please.',
  },
];
const stepViolations = (...script: object[]) => violations({ script });

describe('inputViolations', () => {
  it('finds no violations in a minimal and in a complete evaluation', () => {
    expect(inputViolations('file', valid)).toEqual([]);
    expect(inputViolations('file', exampleOf(FIELD_NAMES))).toEqual([]);
  });

  it.each([null, 7, 'text', [], true])('rejects %p, which is not an object', (value) => {
    expect(inputViolations('file', value)).toEqual(['must be an object']);
  });

  it('reports every violation, each with its path', () => {
    expect(
      violations({
        key: ' a,b ',
        name: '',
        personalityId: 'x',
        critical: 'yes',
        tags: ['a;b', 'ok'],
        maxTurns: 0,
        colour: 'red',
        script: [
          { say: 'Hi', end: 'Bye' },
          { when: {}, say: 'x' },
          { answers: [{ say: 'x' }], until: { says: {} } },
        ],
        checks: [
          { type: 'says', text: 'a', pattern: 'b' },
          { type: 'sings' },
          {},
          { type: 'says_before', first: { pattern: '(' }, then: { text: ' ' } },
          { type: 'max_latency_ms', ms: 1.5, percentile: 42, weight: 0 },
        ],
        criteria: [{}, { text: 'One.' }, { text: ' one. ' }],
      }).sort(),
    ).toEqual(
      [
        'key must not contain a comma, semicolon or line break, or begin or end with white space',
        'name must not be empty',
        'personalityId must be a UUID',
        'critical must be true or false',
        'tags[0] must not contain a comma, semicolon or line break, or begin or end with white space',
        'maxTurns must not be less than 1',
        'colour is not a known field',
        'script[0] must have exactly one of say, answers, backchannel, noise, press, waitSeconds, end',
        'script[1].when must have at least one of says, notSays',
        'script[2].answers[0].when is required',
        'script[2].until.says must have exactly one of text, pattern',
        'script[2].otherwise is required with until',
        'checks[0] must have exactly one of text, pattern',
        `checks[1].type must be one of ${Object.keys(CHECK_DEFINITIONS).join(', ')}`,
        `checks[2].type must be one of ${Object.keys(CHECK_DEFINITIONS).join(', ')}`,
        'checks[3].first.pattern must be an RE2 regular expression: missing closing ): "("',
        'checks[3].then.text must not consist of white space only',
        'checks[4].ms must be a whole number',
        'checks[4].percentile must be one of 50, 90, 95, 99, 100',
        'checks[4].weight must be greater than 0',
        'criteria[0].text is required',
        'criteria[2].text duplicates criteria[1]',
      ].sort(),
    );
  });

  it.each([
    [
      { type: 'says', pattern: 'a*' },
      {},
      'checks[0].pattern must not match the empty text, because it would match every text',
    ],
    [
      { type: 'max_turns', turns: 10 },
      { maxTurns: 10 },
      'checks[0].turns must be less than maxTurns (10), or the check could never fail',
    ],
    [
      { type: 'max_duration_ms', ms: 600_000 },
      {},
      'checks[0].ms must be less than maxDurationSeconds (600), or the check could never fail',
    ],
    [
      { type: 'max_silence_ms', ms: 9_000 },
      { maxDurationSeconds: 9 },
      'checks[0].ms must be less than maxDurationSeconds (9), or the check could never fail',
    ],
    [
      { type: 'max_latency_ms', ms: 9_000, percentile: 90 },
      { maxTurns: 4 },
      'checks[0].percentile 90 requires at least 5 turns, but maxTurns is 4',
    ],
    [
      { type: 'max_latency_ms', ms: 9_000, percentile: 99 },
      { script: [{ say: 'Hi' }] },
      'checks[0].percentile 99 requires at least 5 turns, but script has 1',
    ],
    [{ type: 'calls_tool', tool: ' book' }, {}, 'checks[0].tool must not begin or end with white space'],
    [
      { type: 'calls_tool', tool: 'book', arguments: [] },
      {},
      'checks[0].arguments must be an object, such as {"people":4}',
    ],
    [
      { type: 'calls_tool', tool: 'book', arguments: { a: 'x'.repeat(10_000) } },
      {},
      'checks[0].arguments must have at most 10000 characters as JSON',
    ],
    [
      { type: 'says_before', first: { text: 'A b' }, then: { text: 'a  B' } },
      {},
      'checks[0].then must differ from first',
    ],
    [
      { type: 'says', text: 'pizza', speaker: 'caller' },
      { script: [{ say: 'Hi' }] },
      'checks[0].text is never said by the script, so the check could never hold',
    ],
    [
      { type: 'never_says', text: 'pizza', speaker: 'caller' },
      { script: [{ say: 'Hi' }] },
      'checks[0].text is never said by the script, so the check could never fail',
    ],
    [
      { type: 'says', text: 'pizza', speaker: 'caller' },
      { script: [{ say: 'Two pizzas' }] },
      'checks[0].text is never said by the script, so the check could never hold',
    ],
    ...[{ text: 'tabel on Friday' }, { pattern: '(?i)tabel' }].map((words): [object, object, string] => [
      { type: 'says', ...words, speaker: 'caller' },
      { script: ANSWERS },
      `checks[0].${Object.keys(words)[0]} is never said by the script, so the check could never hold`,
    ]),
    [{ type: 'says', pattern: 'a', partOfWord: true }, {}, 'checks[0].text is required with partOfWord'],
    [{ type: 'says', text: 'a', partOfWord: 'yes' }, {}, 'checks[0].partOfWord must be true or false'],
    [
      { type: 'says_before', first: { text: 'a' }, then: { pattern: 'pizza', speaker: 'caller' } },
      { script: [{ say: 'Hi' }] },
      'checks[0].then is never said by the script, so the check could never hold',
    ],
  ])('rejects the check %j in an evaluation with %j', (check, fields, issue) => {
    expect(checkViolations(check, fields)).toEqual([issue]);
  });

  it.each([
    { text: 'Friday. Four people' },
    { text: 'people. A table' },
    { text: 'a table on Friday. Four people.' },
    { pattern: 'Friday.*four' },
  ])('accepts words %j of the caller that two answers of one turn may say together', (words) => {
    expect(checkViolations({ type: 'says', ...words, speaker: 'caller' }, { script: ANSWERS })).toEqual([]);
  });

  it.each([
    [{ type: 'max_turns', turns: 9 }, { maxTurns: 10 }],
    [{ type: 'max_latency_ms', ms: 9_000, percentile: 100 }, { maxTurns: 1 }],
    [{ type: 'max_latency_ms', ms: 9_000, percentile: 50 }, { maxTurns: 1 }],
    [{ type: 'says', text: 'HI  there', speaker: 'caller' }, { script: [{ say: 'Oh, hi there!' }] }],
    [{ type: 'says', text: 'pizza', speaker: 'caller' }, {}],
    [{ type: 'says', text: 'pizza', partOfWord: true, speaker: 'caller' }, { script: [{ say: 'Two pizzas' }] }],
    [{ type: 'calls_tool', tool: 'book', arguments: {} }, {}],
  ])('accepts the check %j in an evaluation with %j', (check, fields) => {
    expect(checkViolations(check, fields)).toEqual([]);
  });

  it.each([
    [
      [
        { type: 'says', text: 'A  b' },
        { type: 'says', text: 'a B', weight: 2 },
      ],
      'checks[1] duplicates checks[0]',
    ],
    [
      [
        { type: 'says', text: 'a' },
        { type: 'never_says', text: 'a' },
      ],
      'checks[1] contradicts checks[0]: they can never both hold',
    ],
    [
      [
        { type: 'ends_by', by: 'agent' },
        { type: 'ends_by', by: 'caller' },
      ],
      'checks[1] contradicts checks[0]: they can never both hold',
    ],
    [
      [
        { type: 'calls_tool', tool: 'b', arguments: { x: 1, y: [2] } },
        { type: 'calls_tool', tool: 'b', arguments: { y: [2], x: 1 } },
      ],
      'checks[1] duplicates checks[0]',
    ],
    [
      [
        { type: 'says', text: 'a', name: 'N' },
        { type: 'says', text: 'b', name: 'N' },
      ],
      'checks[1].name must be unique: checks[0] has the same name',
    ],
  ])('rejects checks that repeat or contradict each other: %j', (checks, issue) => {
    expect(violations({ checks })).toEqual([issue]);
  });

  it('suggests the field, the type and the value that were probably meant', () => {
    const types = Object.keys(CHECK_DEFINITIONS).join(', ');
    expect(violations({ scenaroText: 'x', checks: [{ type: 'says', txt: 'a' }, { type: 'say' }] })).toEqual([
      'scenaroText is not a known field; did you mean scenarioText?',
      'checks[0] must have exactly one of text, pattern',
      'checks[0].txt is not a known field; did you mean text?',
      `checks[1].type must be one of ${types}; did you mean says?`,
    ]);
    expect(checkViolations({ type: 'ends_by', by: 'agnet' })).toEqual([
      'checks[0].by must be one of caller, agent; did you mean agent?',
    ]);
  });

  it('accepts the same text for different speakers, tools and limits', () => {
    expect(
      violations({
        checks: [
          { type: 'says', text: 'a' },
          { type: 'says', text: 'a', speaker: 'caller' },
          { type: 'says', pattern: 'a' },
          { type: 'calls_tool', tool: 'a' },
          { type: 'calls_tool', tool: 'a', arguments: { x: 1 } },
          { type: 'max_latency_ms', ms: 900, percentile: 50 },
          { type: 'max_latency_ms', ms: 2_000 },
        ],
      }),
    ).toEqual([]);
  });

  it('rejects steps that can never be reached', () => {
    expect(stepViolations({ end: 'Done' }, { say: 'More' })).toEqual([
      'script[1] can never be reached, because script[0] ends the call',
    ]);
    expect(violations({ maxTurns: 1, script: [{ say: 'a' }, { say: 'b' }] })).toEqual([
      'script says 2 lines, more than maxTurns (1) allows',
    ]);
    expect(violations({ maxDurationSeconds: 60, script: [{ waitSeconds: 30 }, { waitSeconds: 30 }] })).toEqual([
      'script waits 60 seconds, which maxDurationSeconds (60) does not allow',
    ]);
    const only = { says: { text: 'sorry' } };
    expect(stepViolations({ to: only, say: 'a' }, { end: 'Done', unless: 'asked' })).toEqual([]);
    expect(stepViolations({ to: only, when: only, say: 'a' }, { say: 'b' })).toEqual([
      'script[0].to is not possible with when or bargeIn',
    ]);
    expect(stepViolations({ end: 'Done', when: only, unless: 'asked' }, { say: 'b' })).toEqual([
      'script[0].unless is only possible in the last step',
    ]);
    expect(stepViolations({ say: 'a', unless: 'asked' }, { end: 'Done', to: only })).toHaveLength(2);
    expect(stepViolations({ end: 'Refused', when: only }, { say: 'More' })).toEqual([]);
  });

  it.each([['constructor'], ['__proto__'], ['toString'], ['hasOwnProperty']])(
    'rejects the property name %s at any depth',
    (name) => {
      const hostile = JSON.parse(`{"${name}": 1}`) as object;
      expect(checkViolations({ type: 'calls_tool', tool: 'book', arguments: hostile })).toEqual([
        `checks[0].arguments.${name} is not a known field`,
      ]);
      expect(inputViolations('file', Object.assign(JSON.parse(`{"${name}": 1}`) as object, valid))).toEqual([
        `${name} is not a known field`,
      ]);
    },
  );

  it('reports every text and number that cannot be stored', () => {
    const check = {
      type: 'calls_tool',
      tool: 'b',
      arguments: { a: '\u0000', b: ['\ud800', Infinity, NaN], 'c\u0000': 1 },
    };
    expect(checkViolations(check)).toEqual(
      [
        'checks[0].arguments.a must not contain the character U+0000',
        'checks[0].arguments.b[0] must not contain an unpaired surrogate',
        'checks[0].arguments.b[1] must be a number that JSON can hold',
        'checks[0].arguments.b[2] must be a number that JSON can hold',
        'checks[0].arguments.c\uFFFD must not contain the character U+0000 in its name',
      ].sort((a, b) => Number(b.includes('name')) - Number(a.includes('name'))),
    );
  });

  it('limits the work for cyclic and huge values', () => {
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    expect(checkViolations({ type: 'calls_tool', tool: 'b', arguments: { cyclic } })[0]).toMatch(
      /nested deeper than 32 levels$/,
    );
    expect(violations({ checks: new Array(200_000).fill(7) })).toEqual(['checks must have at most 1000 entries']);
    const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`f${i}`, i]));
    expect(inputViolations('file', wide)).toEqual(['must have at most 1000 entries']);
  });
});

describe('agentVariables', () => {
  it.each<[object]>([
    [{}],
    [{ agentVariables: { 'first name': 'Rossi', people: 4.5, isRegular: false, note: '' } }],
    [{ agentVariables: { people: '{{people}}' }, variables: [{ people: 4 }] }],
  ])('may be %j', (fields) => expect(violations(fields)).toEqual([]));

  it.each<[string, unknown, RegExp]>([
    ['a list', [], /^agentVariables must be an object, such as \{"customer"/],
    ['null', null, /^agentVariables must be an object, such as \{"customer"/],
    ['a value that is null', { a: null }, /^agentVariables\.a must be/],
    ['a name without characters', { '': 'x' }, /^agentVariables/],
    ['a long name', { ['x'.repeat(65)]: 'x' }, /^agentVariables/],
    ['a long value', { a: 'x'.repeat(2_001) }, /2000/],
    ['a character that texts must not have', { a: 'a\u0000b' }, /^agentVariables\.a must not contain/],
    ['an unknown variable', { a: '{{guests}}' }, /^agentVariables\.a uses the unknown variable "guests"/],
    ['51 of them', Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`v${n}`, 1])), /50/],
  ])('must not be %s', (_what, agentVariables, expected) => {
    const found = violations({ agentVariables, variables: [{ people: 4 }] });
    expect(found).toEqual([expect.stringMatching(expected)]);
  });
});

describe('authored', () => {
  it('fills in every default', () => {
    const checks = [
      { type: 'says', text: 'a' },
      { type: 'max_latency_ms', ms: 900 },
    ];
    const input = { ...valid, checks, criteria: [{ text: 'Polite.' }] } as EvaluationInput;
    expect(authored(input, '+15550100')).toEqual({
      ...valid,
      generalInstructions: '',
      vendorCallPhoneNumber: '+15550100',
      critical: false,
      language: null,
      timezone: null,
      variables: [],
      history: [],
      toolResults: [],
      scope: 'tests',
      appliesTo: null,
      tags: [],
      script: [],
      checks: [
        { type: 'says', text: 'a', speaker: 'agent', weight: 1, required: true },
        { type: 'max_latency_ms', ms: 900, percentile: 100, weight: 1, required: true },
      ],
      criteria: [{ text: 'Polite.', weight: 1, required: true }],
      maxTurns: 40,
      maxDurationSeconds: 600,
      conditions: {},
      turnEndMs: 700,
      fillers: false,
      agentVariables: {},
    });
  });
});
