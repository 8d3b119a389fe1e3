import { authored, inputViolations, normalise, withVariables } from './index.js';
import type { AuthoredEvaluation, EvaluationInput } from './definition/definition.js';

const valid = {
  key: 'a',
  name: 'A',
  scenarioText: 'You want a table.',
  personalityId: 'c7e15a3b-2f68-4d90-a1b4-8e9d0c6f7251',
};
const violations = (fields: object) => inputViolations('file', { ...valid, ...fields });
const ofScript = (...script: object[]) => violations({ script });

const SAY = { say: 'A table for four, please.' };
const BARGE_IN = { say: 'Five, sorry.', bargeIn: { afterMs: 1200 } };
const MM_HMM = { backchannel: 'mm-hmm', afterMs: 1500 };
const SCRIPT = [
  SAY,
  { say: ['My number is', { pauseMs: 1200 }, 'five five five'] },
  MM_HMM,
  { noise: 'cough', afterMs: 3000 },
  { ...BARGE_IN, bargeIn: { afterMs: 4500 } },
  { noise: 'door' },
  { press: '12w3#' },
  { answers: [{ when: { says: { text: 'name' } }, say: ['Ro', { pauseMs: 500 }, 'ssi'] }] },
  { end: 'Done' },
];

describe('steps of voice calls', () => {
  it.each<[string, object[]]>([
    ['all of them', SCRIPT],
    ['a line of one text in a list', [{ say: ['Hello.'] }]],
    ['keys and a noise before the first words', [{ press: '0' }, { noise: 'cough' }, SAY]],
    ['a barge-in into the response to a barge-in', [SAY, BARGE_IN, BARGE_IN]],
    ['a backchannel right at the onset of the agent', [SAY, { ...MM_HMM, afterMs: 0 }]],
    ['keys only if the agent asks for them', [SAY, { when: { says: { text: 'press' } }, press: '1' }]],
  ])('are accepted: %s', (_, script) => expect(ofScript(...script)).toEqual([]));

  it.each<[string, object[], string[]]>([
    [
      'a barge-in as the first step',
      [BARGE_IN],
      ['script[0].bargeIn requires a step with say before it: the step belongs to the response to that line'],
    ],
    [
      'a backchannel after silence',
      [SAY, { waitSeconds: 3 }, MM_HMM],
      ['script[2].afterMs requires a step with say before it: the step belongs to the response to that line'],
    ],
    [
      'a noise during the response to answers, whose end is not known before',
      [{ answers: [{ when: { says: { text: 'a' } }, say: 'b' }] }, { noise: 'door', afterMs: 100 }],
      ['script[1].afterMs requires a step with say before it: the step belongs to the response to that line'],
    ],
    [
      'a barge-in after keys',
      [SAY, { press: '1' }, BARGE_IN],
      ['script[2].bargeIn requires a step with say before it: the step belongs to the response to that line'],
    ],
    [
      'two steps at the same moment of a turn',
      [SAY, MM_HMM, { noise: 'cough', afterMs: 1500 }],
      ['script[2].afterMs must be greater than 1500, because script[1] is in the same turn of the agent'],
    ],
    [
      'a barge-in before the backchannel in front of it',
      [SAY, MM_HMM, BARGE_IN],
      ['script[2].bargeIn.afterMs must be greater than 1500, because script[1] is in the same turn of the agent'],
    ],
    [
      'a step of a response to a line that may be skipped',
      [{ ...SAY, when: { says: { text: 'a' } } }, MM_HMM],
      ['script[1].afterMs requires a step before it that is never skipped: script[0] has when'],
    ],
    [
      'a condition on a response that is not over',
      [SAY, { ...BARGE_IN, when: { says: { text: 'a' } } }],
      ["script[1].when is not possible with bargeIn: the step begins before the agent's response is known"],
    ],
    [
      'an unknown backchannel',
      [SAY, { backchannel: 'okay', afterMs: 1 }],
      ['script[1].backchannel must be one of mm-hmm, uh-huh, yeah'],
    ],
    ['an unknown noise', [{ noise: 'dog' }], ['script[0].noise must be one of cough, door']],
    ['a backchannel in silence', [SAY, { backchannel: 'yeah' }], ['script[1].afterMs is required with backchannel']],
    ['afterMs beside say', [SAY, { ...SAY, afterMs: 5 }], ['script[1] must have exactly one of backchannel, noise']],
    ['bargeIn beside keys', [{ press: '1', bargeIn: { afterMs: 1 } }], ['script[0].say is required with bargeIn']],
    ['a barge-in without a moment', [SAY, { ...SAY, bargeIn: {} }], ['script[1].bargeIn.afterMs is required']],
    [
      'other characters than keys',
      [{ press: '12 E' }],
      ['script[0].press must consist of 0 to 9, *, #, A to D, and w for half a second'],
    ],
    ['nothing but waiting', [{ press: 'ww' }], ['script[0].press must have a key: to wait only, use waitSeconds']],
    ['no keys', [{ press: '' }], ['script[0].press must not be empty']],
    ['an empty line', [{ say: [] }], ['script[0].say must not be empty']],
    [
      'a pause at the end of a line',
      [{ say: ['Well', { pauseMs: 5 }] }],
      ['script[0].say must begin and end with words: silence before or after a line is waitSeconds'],
    ],
    [
      'two pauses in a row in an answer',
      [{ answers: [{ when: { says: { text: 'a' } }, say: ['b', { pauseMs: 5 }, { pauseMs: 6 }, 'c'] }] }],
      ['script[0].answers[0].say[2] must not follow another pause: write one longer pause'],
    ],
    [
      'parts of other types and pauses past the limits',
      [{ say: ['a', { pauseMs: 0 }, 7, { pauseMs: 1.5, x: 1 }, ' ', 'b'] }],
      [
        'script[0].say[1].pauseMs must not be less than 1',
        'script[0].say[2] must be a string or an object; put it in quotation marks',
        'script[0].say[3].pauseMs must be a whole number',
        'script[0].say[3].x is not a known field',
      ],
    ],
    ['a blank part', [{ say: ['a', ' '] }], ['script[0].say[1] must not consist of white space only']],
    [
      'a long hesitation',
      [{ say: ['a', { pauseMs: 10_001 }, 'b'] }],
      ['script[0].say[1].pauseMs must not be greater than 10000'],
    ],
    [
      'a line that is too long in all its parts together',
      [{ say: ['x'.repeat(1_500), 'y'.repeat(501)] }],
      ['script[0].say must have at most 2000 characters in all its texts'],
    ],
    ['a line of another type', [{ say: 7 }], ['script[0].say must be a string or a list; put it in quotation marks']],
    [
      'a hesitating otherwise',
      [{ answers: [{ when: { says: { text: 'a' } }, say: 'b' }], until: { says: { text: 'c' } }, otherwise: ['d'] }],
      ['script[0].otherwise must be a string'],
    ],
  ])('are rejected: %s', (_, script, expected) => expect(ofScript(...script).sort()).toEqual([...expected].sort()));

  it('count as lines of the caller only if they speak', () => {
    expect(violations({ script: [SAY, MM_HMM, { press: '1' }, BARGE_IN], maxTurns: 1 })).toEqual([
      'script says 2 lines, more than maxTurns (1) allows',
      'script[3].bargeIn requires a step with say before it: the step belongs to the response to that line',
    ]);
  });

  it('have words that checks find across hesitations', () => {
    const said = (text: string) => violations({ script: SCRIPT, checks: [{ type: 'says', speaker: 'caller', text }] });
    expect(said('number is five')).toEqual([]);
    expect(said('number is six')).toEqual([
      'checks[0].text is never said by the script, so the check could never hold',
    ]);
  });
});

describe('checks of voice calls', () => {
  const check = (type: string, fields: object = {}) => ({ type, ...fields });
  const ofCheck = (one: object, script: object[] = SCRIPT) => violations({ script, checks: [one] });

  it.each([
    check('yields_within_ms', { ms: 1000 }),
    check('keeps_speaking'),
    check('max_interruptions', { count: 0 }),
    check('max_overlap_ms', { ms: 0 }),
    check('speaking_rate', { minWpm: 100, maxWpm: 200 }),
    check('audio_level', { maxClippedPercent: 1 }),
    check('audio_level', { minDbfs: -40, maxDbfs: -10 }),
    check('max_choppiness', { perMinute: 0.5 }),
    check('clean_protocol'),
    check('hears_keys', { keys: '123#' }),
    check('hears_keys', { keys: '123#', then: { tool: 'find_customer', arguments: { pin: '123' } } }),
    check('hears_keys', { keys: '123#', then: { transfer: true } }),
    check('hears_keys', { keys: '123#', then: { pattern: '(?i)thank you' } }),
    check('understood', { values: [{ value: 'Rossi' }, { tool: 'book_table', argument: 'name' }] }),
    check('any_of', { checks: [check('clean_protocol'), check('max_interruptions', { count: 1 })] }),
  ])('accept %j', (one) => expect(ofCheck(one)).toEqual([]));

  it.each<[object, string[], object[]?]>([
    [check('yields_within_ms'), ['checks[0].ms is required']],
    [check('yields_within_ms', { ms: 5_001 }), ['checks[0].ms must not be greater than 5000']],
    [
      check('yields_within_ms', { ms: 900 }),
      ['checks[0] requires a step with say and bargeIn in script, or it could never be decided'],
      [SAY],
    ],
    [
      check('not', { check: check('keeps_speaking') }),
      ['checks[0].check requires a step with backchannel or noise in script, or it could never be decided'],
      [],
    ],
    [check('max_interruptions', { count: -1 }), ['checks[0].count must not be less than 0']],
    [
      check('max_overlap_ms', { ms: 600_000 }),
      ['checks[0].ms must be less than maxDurationSeconds (600), or the check could never fail'],
    ],
    [check('speaking_rate', { minWpm: 200, maxWpm: 100 }), ['checks[0].maxWpm must not be less than minWpm (200)']],
    [check('speaking_rate'), ['checks[0] must have at least one of minWpm, maxWpm']],
    [check('audio_level'), ['checks[0] must have at least one of minDbfs, maxDbfs, maxClippedPercent']],
    [check('audio_level', { minDbfs: 1 }), ['checks[0].minDbfs must not be greater than 0']],
    [check('audio_level', { minDbfs: -10, maxDbfs: -20 }), ['checks[0].maxDbfs must not be less than minDbfs (-10)']],
    [check('clean_protocol', { ms: 1 }), ['checks[0].ms is not a known field']],
    [
      check('hears_keys', { keys: '23#' }),
      ['checks[0].keys is not what a step of the script presses, so the check could never be decided'],
    ],
    [check('hears_keys', { keys: '1w' }), ['checks[0].keys must consist of 0 to 9, *, # and A to D']],
    [
      check('hears_keys', { keys: '123#', then: {} }),
      ['checks[0].then must have exactly one of text, pattern, tool, transfer'],
    ],
    [
      check('hears_keys', { keys: '123#', then: { transfer: false } }),
      ['checks[0].then.transfer must be true, or words of the target of the transfer'],
    ],
    [
      check('hears_keys', { keys: '123#', then: { text: 'please', speaker: 'caller' } }),
      ['checks[0].then.speaker must be agent: the check is about what the agent does'],
    ],
    [
      check('hears_keys', { keys: '123#', then: { pattern: '(' } }),
      [expect.stringMatching(/^checks\[0\]\.then\.pattern /)],
    ],
    [
      check('understood', { values: [{ value: 'a' }, { pattern: '(?P<a>b)' }] }),
      ['checks[0].values must have an argument of a tool: what was understood'],
    ],
    [
      check('understood', {
        values: [
          { tool: 'a', argument: 'b' },
          { tool: 'a', result: 'b' },
        ],
      }),
      ["checks[0].values must have what the caller said: a value, or a pattern in the caller's words"],
    ],
    [
      check('understood', {
        values: [
          { tool: 'a', argument: 'b' },
          { pattern: 'four', speaker: 'caller' },
        ],
      }),
      ['checks[0].values[1].pattern must have a named group, as in (?P<price>[0-9]+)'],
    ],
  ])('reject %j', (...[one, expected, script]) => expect(ofCheck(one, script)).toEqual(expected));
});

describe('conditions and turnEndMs', () => {
  it('are accepted at their limits', () => {
    for (const snrDb of [-10, 60]) {
      for (const type of ['white', 'pink', 'brown', 'hum', 'babble']) {
        expect(violations({ conditions: { noise: { type, snrDb } } })).toEqual([]);
      }
    }
    for (const band of ['telephone', 'wide'])
      expect(violations({ conditions: { band, seed: 4_294_967_295 } })).toEqual([]);
    expect(violations({ conditions: {}, turnEndMs: 200 })).toEqual([]);
    expect(violations({ conditions: { gainDb: -40, echoDb: 0, packetLossPercent: 50, jitterMs: 500 } })).toEqual([]);
    expect(violations({ turnEndMs: 3000 })).toEqual([]);
  });

  it.each<[object, string[]]>([
    [{ conditions: [] }, [expect.stringMatching(/^conditions must be an object, such as \{"noise"/)]],
    [{ conditions: null }, [expect.stringMatching(/^conditions must be an object, such as \{"noise"/)]],
    [{ conditions: { colour: 1 } }, ['conditions.colour is not a known field']],
    [{ conditions: { noise: 'white' } }, ['conditions.noise must be an object']],
    [
      { conditions: { noise: { type: 'grey' } } },
      ['conditions.noise.snrDb is required', 'conditions.noise.type must be one of white, pink, brown, hum, babble'],
    ],
    [{ conditions: { noise: { type: 'hum', snrDb: 61 } } }, ['conditions.noise.snrDb must not be greater than 60']],
    [
      { conditions: { gainDb: 21, echoDb: 1 } },
      ['conditions.echoDb must not be greater than 0', 'conditions.gainDb must not be greater than 20'],
    ],
    [
      { conditions: { packetLossPercent: 51, jitterMs: -1 } },
      ['conditions.jitterMs must not be less than 0', 'conditions.packetLossPercent must not be greater than 50'],
    ],
    [{ conditions: { seed: 1.5 } }, ['conditions.seed must be a whole number']],
    [{ conditions: { band: 'narrow' } }, ['conditions.band must be one of telephone, wide']],
    [{ turnEndMs: 199 }, ['turnEndMs must not be less than 200']],
    [{ turnEndMs: 3001 }, ['turnEndMs must not be greater than 3000']],
    [{ turnEndMs: 1.5 }, ['turnEndMs must be a whole number']],
    [{ turnEndMs: null }, ['turnEndMs must be a whole number']],
  ])('reject %j', (fields, expected) => expect(violations(fields).sort()).toEqual(expected));

  it('are stored with their fields in the order of the documentation', () => {
    const conditions = { seed: 1, band: 'wide', jitterMs: 3, noise: { snrDb: 10, type: 'hum' }, gainDb: -6 } as const;
    const stored = normalise({ conditions });
    expect(JSON.stringify(stored.conditions)).toBe(
      '{"noise":{"type":"hum","snrDb":10},"gainDb":-6,"jitterMs":3,"band":"wide","seed":1}',
    );
    expect(normalise({})).toMatchObject({ conditions: {}, turnEndMs: 700 });
    expect(JSON.stringify(normalise(stored))).toBe(JSON.stringify(stored));
  });
});

describe('an evaluation for voice calls', () => {
  const checks = [
    { type: 'hears_keys', then: { transfer: true }, keys: '123#' },
    { type: 'hears_keys', keys: '123#', then: { text: 'ok', partOfWord: false } },
    { type: 'understood', values: [{ value: 'Rossi' }, { argument: 'name', tool: 'book_table' }] },
  ];

  it('keeps everything that its author wrote, in the order of the documentation', () => {
    const mixed = SCRIPT.map((step) => Object.fromEntries(Object.entries(step).reverse()));
    const stored = authored({ ...valid, script: mixed, checks } as unknown as EvaluationInput, '');
    expect(JSON.stringify(stored.script)).toBe(JSON.stringify(SCRIPT));
    expect(stored.checks).toEqual([
      { type: 'hears_keys', keys: '123#', then: { transfer: true }, weight: 1, required: true },
      { type: 'hears_keys', keys: '123#', then: { text: 'ok', speaker: 'agent' }, weight: 1, required: true },
      {
        type: 'understood',
        values: [{ value: 'Rossi' }, { tool: 'book_table', argument: 'name', occurrence: 'last' }],
        weight: 1,
        required: true,
      },
    ]);
    expect(JSON.stringify(authored(stored, ''))).toBe(JSON.stringify(stored));
  });

  it('has variables in the new steps and checks', () => {
    const template = {
      ...valid,
      variables: [{ pin: '12#', pause: 900, sound: 'uh-huh', after: 700 }],
      script: [
        { say: ['It is {{pin}}', { pauseMs: '{{pause}}' }, 'exactly'] },
        { backchannel: '{{sound}}', afterMs: '{{after}}' },
        { press: '{{pin}}' },
      ],
      checks: [{ type: 'hears_keys', keys: '{{pin}}' }],
    };
    expect(inputViolations('file', template)).toEqual([]);
    const { script, checks: replaced } = withVariables(
      template as unknown as AuthoredEvaluation,
      template.variables[0]!,
    );
    expect(script).toEqual([
      { say: ['It is 12#', { pauseMs: 900 }, 'exactly'] },
      { backchannel: 'uh-huh', afterMs: 700 },
      { press: '12#' },
    ]);
    expect(replaced[0]).toMatchObject({ keys: '12#' });
    const wrong = { ...template, variables: [...template.variables, { pin: '9x', pause: 900, sound: 'oh', after: 1 }] };
    expect(inputViolations('file', wrong)).toEqual([
      expect.stringMatching(/^script\[1\]\.backchannel must be one of .* with the values of variables\[1\]$/),
      expect.stringMatching(/^script\[2\]\.press must consist of .* with the values of variables\[1\]$/),
      expect.stringMatching(/^checks\[0\]\.keys must consist of .* with the values of variables\[1\]$/),
    ]);
  });
});

describe('fillers', () => {
  it('belong to callers without a script', () => {
    expect(violations({ fillers: true })).toEqual([]);
    expect(violations({ fillers: false, script: [SAY] })).toEqual([]);
    expect(violations({ fillers: true, script: [SAY] })).toEqual([
      'fillers must be false for an evaluation with a script, whose lines are known: remove the script or fillers',
    ]);
    expect(violations({ fillers: 'yes' })).toHaveLength(1);
    expect(normalise({}).fillers).toBe(false);
  });
});
