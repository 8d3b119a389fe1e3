import { checkFile } from './check-file.js';
import { refusalOf } from './testing/refusal.js';

/** Messages about a file; none if it would be imported. */
function messagesOf(text: string, mediaType = 'application/yaml'): readonly string[] {
  let issues: readonly string[] = [];
  const refusal = refusalOf(() => {
    issues = checkFile({ mediaType, text }).issues.listed.map(({ message }) => message);
  });
  return refusal ?? issues;
}

/** Numbers from 0 to below `count`, the same for a seed. */
function randomOf(seed: number): (count: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (count) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
}

const WORDS = ['seven', 'Rossi', 'tomorrow', 'the terrace', 'a table', 'gluten', 'Straße 5', 'très bien', '19:30'];

interface Trap {
  readonly source: string;
  /** Fields of an evaluation; `»` stands before the faulty line, `WORD` for a text. */
  readonly fields: string;
  readonly path: string;
  readonly fix: string;
}

const trap = (source: string, path: string, fix: string, fields: string): Trap => ({ source, fields, path, fix });
const ofType = (source: string, type: string, fix: string): Trap =>
  trap(source, 'checks[0].type', fix, `checks:\n»  - type: ${type}\n    value: WORD`);
const ofField = (source: string, field: string, fix: string): Trap => trap(source, field, fix, `»${field}:\n  - WORD`);
const inStep = (source: string, field: string, fix: string): Trap =>
  trap(source, `script[1].${field}`, fix, `script:\n  - say: Hello\n»  - ${field}: WORD`);
const ofPattern = (source: string, pattern: string, fix: string): Trap =>
  trap(source, 'checks[0].pattern', fix, `checks:\n  - type: never_says\n»    pattern: ${pattern}`);

const SCHEMA = 'a rule is written as argumentsSchema: ';
const ofArguments = (source: string, value: string, fix = SCHEMA): Trap =>
  trap(
    source,
    'checks[0].arguments.day',
    fix,
    `checks:\n  - type: never_calls_tool\n    tool: book\n    arguments:\n»      day: ${value}`,
  );
const ofText = (source: string, text: string): Trap =>
  trap(source, 'checks[0].text', 'write it as pattern', `checks:\n  - type: never_says\n»    text: ${text}`);

const CALLS = 'write calls_tool with tool and arguments';
const LATENCY = 'write max_latency_ms with ms';
const CRITERION = 'write a criterion, such as "criterion: ';
const SAYS = 'write says with partOfWord: true';
const LOOK_AROUND = 'there is no look-around: write two checks, or the unwanted part as never_says';
const QUOTES = 'put a text with a comma or colon in quotation marks';

const TRAPS: readonly Trap[] = [
  ofType('promptfoo', 'contains', SAYS),
  ofType('promptfoo', 'icontains', SAYS),
  ofType('promptfoo', 'not-contains', 'write never_says with partOfWord: true'),
  ofType('promptfoo', 'contains-any', 'write any_of with a says check for each text'),
  ofType('promptfoo', 'contains-all', 'write all_of with a says check for each text'),
  ofType('promptfoo', 'equals', 'write says with a pattern'),
  ofType('promptfoo', 'regex', 'write says with a pattern'),
  ofType('promptfoo', 'not-regex', 'write never_says with a pattern'),
  ofType('promptfoo', 'starts-with', 'write says with a pattern'),
  ofType('promptfoo', 'llm-rubric', CRITERION),
  ofType('promptfoo', 'not-llm-rubric', 'inside a check "type: not"'),
  ofType('promptfoo', 'similar', CRITERION),
  ofType('promptfoo', 'g-eval', CRITERION),
  ofType('promptfoo', 'factuality', CRITERION),
  ofType('promptfoo', 'model-graded-closedqa', CRITERION),
  ofType('promptfoo', 'answer-relevance', CRITERION),
  ofType('promptfoo', 'latency', 'write max_latency_ms with ms'),
  ofType('promptfoo', 'trajectory:tool-used', 'write calls_tool with tool and arguments'),
  ofField('promptfoo', 'vars', 'write variables, a list with an object for each row'),
  ofField('promptfoo', 'assert', 'write checks, or expect under a line of script'),
  ofType('Rasa', 'bot_uttered', 'write says with text or pattern'),
  ofType('Rasa', 'action_executed', 'write calls_tool with tool and arguments'),
  ofField('Rasa', 'assertions', 'write checks, or expect under a line of script'),
  ofField('Rasa', 'steps', 'write script, a list of steps'),
  inStep('Rasa', 'user', 'write say in a step of script'),
  inStep('Rasa', 'bot', 'write says in checks, or expect under the line'),
  inStep('Rasa', 'utter', 'write says in checks, or expect under the line'),
  ofField('Pipecat', 'turns', 'write script, a list of steps'),
  ofField('Pipecat', 'expect', 'write checks, or expect under a line of script'),
  trap('Pipecat', 'script[0].expect[0].type', CRITERION, 'script:\n  - say: WORD\n    expect:\n»      - eval: WORD'),
  trap('Pipecat', 'checks[0].type', SAYS, 'checks:\n»  - text_contains: [WORD]'),
  ofType('Pipecat', 'function_called', 'write calls_tool with tool and arguments'),
  ofField('ElevenLabs', 'success_condition', CRITERION),
  ofType('ElevenLabs', 'not_says', 'write never_says'),
  ofType('ElevenLabs', 'tool_called', 'write calls_tool with tool and arguments'),
  ofField('LangWatch', 'judge', CRITERION),
  ofField('LangWatch', 'success_criteria', CRITERION),
  ofType('LangWatch', 'not_calls_tool', 'write never_calls_tool'),
  trap('LangWatch', 'script[0].when.contains', SAYS, 'script:\n  - say: Hello\n    when:\n»      contains: WORD'),
  trap('LangWatch', 'history[0].user', 'write caller', 'history:\n»  - user: WORD\n  - agent: Hello'),
  trap('OpenAI', 'history[1].assistant', 'write agent', 'history:\n  - caller: WORD\n»  - assistant: Hello'),
  trap('tau2', 'history[0].args', 'write arguments', 'history:\n  - tool: find\n»    args: { day: WORD }'),
  trap('Botium', 'toolResults[0].returns', 'write result', 'toolResults:\n  - tool: find\n»    returns: WORD'),
  trap('Pipecat', 'script[0].say', 'known are the dates', 'script:\n»  - say: WORD on {{next friday}}'),
  // docs.pipecat.ai: evals/scripted-scenarios
  trap(
    'Pipecat',
    'script[0].expect[0].type',
    CALLS,
    'script:\n  - say: WORD\n    expect:\n»      - event: function_call\n        name: book',
  ),
  trap(
    'Pipecat',
    'script[0].expect[0].type',
    LATENCY,
    'script:\n  - say: WORD\n    expect:\n»      - { event: response, within_ms: 900 }',
  ),
  trap('Pipecat', 'script[1].dtmf', 'write a step with press', 'script:\n  - say: WORD\n»  - dtmf: "1#"'),
  trap('Pipecat', 'script[1].delay_ms', 'write a step with waitSeconds', 'script:\n  - say: WORD\n»  - delay_ms: 300'),
  trap('Pipecat', 'script[0].interrupt', 'write bargeIn:', 'script:\n  - say: WORD\n»    interrupt: true'),
  // rasa.com: testing/e2e/test-cases
  ofType('Rasa', 'slot_was_set', 'write a check of words or tool calls: '),
  ofType('Rasa', 'generative_response_is_grounded', CRITERION),
  trap('Rasa', 'checks[0].text_matches', 'write text', 'checks:\n  - type: says\n»    text_matches: WORD'),
  // promptfoo/promptfoo: site/docs/configuration
  ofType('promptfoo', 'javascript', 'write a pattern, argumentsSchema or a criterion: code is not executed'),
  trap('promptfoo', 'checks[0].value', 'write text', 'checks:\n  - type: says\n»    value: WORD'),
  trap('promptfoo', 'checks[0].metric', 'write name', 'checks:\n  - type: says\n    text: WORD\n»    metric: Words'),
  trap('promptfoo', 'description', 'write name', 'script:\n  - say: WORD\n»description: WORD'),
  trap(
    'promptfoo',
    'checks[0].criterion',
    'names a file, which is not read',
    'checks:\n»  - criterion: file://rubric.txt',
  ),
  // promptfoo/promptfoo#9697, `trajectory:tool-used` with a pattern
  trap(
    'promptfoo',
    'checks[0].tool',
    'not a pattern: write a check for each',
    'checks:\n  - type: never_calls_tool\n»    tool: delete_*',
  ),
  // elevenlabs.io: agents, testing, tool_call_parameters
  ofArguments('ElevenLabs', '{ type: regex, pattern: WORD }'),
  ofArguments('ElevenLabs', '{ type: llm, description: WORD }'),
  ofArguments('ElevenLabs', '{ type: exact, expected_value: WORD }'),
  ofField('ElevenLabs', 'dynamic_variables', 'write agentVariables'),
  ofField('ElevenLabs', 'success_examples', CRITERION),
  ofField('ElevenLabs', 'chat_history', 'write history'),
  // gleanwork/mcp-server-tester#143 and the schemas of tools
  ofArguments('MCP', '{ $pattern: WORD, $flags: i }', 'must be a value, not the operator $pattern'),
  ofArguments('OpenAI', '{ type: string, enum: [WORD] }'),
  trap(
    'OpenAI',
    'checks[0].arguments',
    SCHEMA,
    'checks:\n  - type: calls_tool\n    tool: book\n»    arguments: { type: object, properties: { day: {} } }',
  ),
  // docs.vapi.ai: observability/evals-quickstart
  ofField('Vapi', 'messages', 'write script, a list of steps'),
  inStep('Vapi', 'role', 'write say in a step of script'),
  trap('Vapi', 'checks[0].type', CRITERION, 'checks:\n»  - judgePlan: { type: ai, content: WORD }'),
  // langwatch/scenario
  ofField('LangWatch', 'situation', 'write scenarioText'),
  inStep('LangWatch', 'proceed', 'write no script: then a language model plays the caller'),
  trap('LangWatch', 'script[1]', 'must be an object, such as {"say":"Hello"}', 'script:\n  - say: WORD\n»  - agent'),
  // Botium, whose matching mode is one for all texts
  ofText('Botium', 'WORD.*please'),
  ofText('Botium', '/WORD/i'),
  ofText('promptfoo', '(WORD|no) seats'),
  ofText('Rasa', "'\\d+ WORD'"),
  trap(
    'YAML',
    'checks[0].times',
    'such as {"min":1,"max":1}',
    'checks:\n  - type: calls_tool\n    tool: WORD\n»    times: 1',
  ),
  trap('YAML', 'checks[0].type', 'did you mean says?', 'checks:\n»  - says: WORD'),
  ofPattern('JavaScript', '/WORD/i', 'write (?i)WORD,'),
  ofPattern('JavaScript', '/WORD|x/gs', 'write (?s)WORD|x,'),
  ofPattern('Perl', '/a\\/WORD/', 'write a/WORD,'),
  ofPattern('JavaScript', "'WORD(?= ok)'", LOOK_AROUND),
  ofPattern('JavaScript', "'^(?!.*WORD)'", LOOK_AROUND),
  ofPattern('Python', "'(?<!not )WORD'", LOOK_AROUND),
  ofPattern('Python', "'(WORD) \\1'", 'there are no back-references'),
  ofPattern('JSON', "'\\\\d+ WORD'", 'write \\d, and [\\\\] for a backslash'),
  ofPattern('JSON', "'\\\\bWORD\\\\b'", 'write \\b, and [\\\\] for a backslash'),
  ofPattern('YAML', '"\\bWORD"', 'use single quotes'),
  trap('YAML', 'script[0].say', 'write a step with waitSeconds', 'script:\n»  - say: "   "\n  - say: WORD'),
  trap('YAML', 'script[0].WORD sir', QUOTES, 'script:\n»  - { say: Yes, WORD sir }'),
  trap('YAML', 'checks[0].please', QUOTES, 'checks:\n»  - { type: says, text: WORD, please }'),
  trap('YAML', 'criteria[0].The agent asks', QUOTES, 'criteria:\n»  - The agent asks: WORD'),
];

/** A suite of some evaluations of which one has the fields of the trap. */
function suiteWith(fields: string, seed: number): { text: string; at: number; word: string; line: number } {
  const random = randomOf(seed);
  const word = WORDS[random(WORDS.length)] ?? '';
  const at = random(4);
  const items = Array.from({ length: at + 1 + random(3) }, (_, index) => {
    const healthy = `script:\n  - say: ${WORDS[random(WORDS.length)] ?? ''}\n  - end: Done\nchecks:\n  - { type: says, text: Hello }`;
    const own = index === at ? fields.replaceAll('WORD', word) : healthy;
    const head = `key: case-${index}\nname: Case ${index}\nscenarioText: Ask.\npersonality: Caller`;
    return `${random(2) === 0 ? '# A comment\n' : ''}- ${`${head}\n${own}`.replaceAll('\n', '\n  ')}`;
  });
  const marked = `${'# A suite\n'.repeat(random(3))}evaluations:\n${items.join('\n')}\n`;
  const line = marked.split('\n').findIndex((text) => text.includes('»')) + 1;
  return { text: marked.replaceAll('»', ''), at, word, line };
}

describe('suites with typical mistakes of people who come from another tool', () => {
  const suites = Array.from({ length: 300 }, (_, seed) => ({ seed, ...TRAPS[seed % TRAPS.length]! }));

  it.each(suites)('(seed $seed, $source) names $path, its line and: $fix', ({ seed, fields, path, fix }) => {
    const { text, at, word, line } = suiteWith(fields, seed);
    const begin = `evaluations[${at}].${path.replace('WORD', word)} `;
    const messages = messagesOf(text).filter(
      (message) => message.startsWith(begin) && message.endsWith(` (key "case-${at}", line ${line})`),
    );
    expect(messages).toEqual([expect.stringContaining(fix.replace('WORD', word))]);
  });

  it('are imported without the mistake', () => {
    for (let seed = 0; seed < 200; seed++) {
      expect(messagesOf(suiteWith(`checks:\n  - type: says\n    text: 'WORD'`, seed).text)).toEqual([]);
    }
  });
});

describe('unquoted texts that YAML divides or cuts off', () => {
  it.each([
    // nodeca/js-yaml#355
    [
      'checks:\n  - type: calls_tool\n    tool: book\n»    arguments: { name: Rossi, Anna }',
      'checks[0].arguments.Anna',
    ],
    // go-yaml/yaml#771
    ['toolResults:\n  - tool: find\n    result: {}\n»    same: { day:Friday }', 'toolResults[0].same.day:Friday'],
    ['»criteria: [Polite, and short]', 'criteria[1]'],
    ['script:\n  - say:\n      - My room is\n»      - Room #5', 'script[0].say[1]'],
    // pleaseai/shunt#535
    ['script:\n»  - say: Room #5, please', 'script[0].say'],
    // monarch-initiative/dismech#12094
    ['criteria:\n»  - The agent confirms the order (number #8889)', 'criteria[0]'],
    // Chemaclass/agnostic-ai#317
    ['history:\n»  - caller: The order number, #1234', 'history[0].caller'],
  ])('are refused with their line: %j', (fields, path) => {
    const { text, at, line } = suiteWith(fields, 3);
    const messages = messagesOf(text).filter((message) => message.startsWith(`evaluations[${at}].${path} `));
    expect(messages).toEqual([expect.stringMatching(new RegExp(`quotation marks.*\\(line ${line}\\)$`))]);
  });

  it.each([
    'checks:\n  - { type: calls_tool, tool: book, arguments: { name: "Rossi, Anna", at: null } }',
    'criteria: [Polite, Short]',
    'criteria: [polite, short]',
    'criteria: ["Polite, and short"]',
    'tags: [Smoke, nightly]',
    'script:\n  - say: Hello # a comment\n  - say: "Room #5"\n  - say: Channel C#',
  ])('are not what only looks like them: %j', (fields) => expect(messagesOf(suiteWith(fields, 3).text)).toEqual([]));
});

describe('a text that YAML reads as another type', () => {
  it.each([
    ['script:\n»  - say: 19.30', 'script[0].say'],
    ['checks:\n»  - { type: says, text: 42 }', 'checks[0].text'],
    ['checks:\n»  - { type: says, text: true }', 'checks[0].text'],
  ])('is refused with the fix: %j', (fields, path) => {
    const { text, at } = suiteWith(fields, 4);
    const messages = messagesOf(text).filter((message) => message.startsWith(`evaluations[${at}].${path} `));
    expect(messages).toEqual([expect.stringContaining('put it in quotation marks')]);
  });
});

describe('what only looks like a mistake', () => {
  it.each([
    "'(?i)/(seven|eight)'",
    "'and/or'",
    "'[/]seven[/]'",
    "'\\d+ \\w\\b'",
    "'[\\\\]d'",
    "'\\\\.'",
    "'seven\\/eight'",
  ])('is a pattern: %s', (pattern) =>
    expect(messagesOf(suiteWith(`checks:\n  - type: says\n    pattern: ${pattern}`, 1).text)).toEqual([]),
  );

  it('is a pattern for the arguments of a tool, which may be paths', () => {
    const schema = 'argumentsSchema: { properties: { path: { type: string, pattern: /api/v1/ } } }';
    const fields = `checks:\n  - type: calls_tool\n    tool: fetch\n    ${schema}`;
    expect(messagesOf(suiteWith(fields, 2).text)).toEqual([]);
  });
});

describe('what only looks like a rule or an expression', () => {
  it.each([
    'and/or',
    '/etc/hosts',
    'a *b* c',
    '50.5',
    'C:\\docs',
    'a\\b',
    '[sic] two',
    'either | or',
    'Are you (still) there?',
  ])('is a text: %s', (text) => {
    const messages = messagesOf(suiteWith(`checks:\n  - type: says\n    text: ${JSON.stringify(text)}`, 5).text);
    expect(messages).toEqual([]);
  });

  it.each([
    '{ type: card, description: gold }',
    '{ pattern: "**/*.ts", path: src }',
    '{ contains: seven }',
    '[{ id: 1, type: string }]',
  ])('is a value: %s', (value) => {
    const check = `checks:\n  - type: calls_tool\n    tool: find\n    arguments: { type: string, filter: ${value} }`;
    expect(messagesOf(suiteWith(check, 6).text)).toEqual([]);
  });
});

it.each(['=1+1', '*a', '| x', 'a\\b', 'book.table/v1'])('a tool may have the name %s', (tool) => {
  const check = `checks:\n  - type: calls_tool\n    tool: ${JSON.stringify(tool)}`;
  expect(messagesOf(suiteWith(check, 7).text)).toEqual([]);
});

describe('files of other tools', () => {
  it.each([
    [
      'promptfoo.dev: configuration/guide',
      'a promptfoo',
      'providers',
      'description: x\nproviders: [openai:gpt]\ntests:\n  - vars: {}',
      2,
    ],
    ['promptfoo.dev: modular-configs', 'a promptfoo', 'assert', '- assert:\n    - type: contains\n      value: x', 1],
    [
      'promptfoo: tests alone',
      'a promptfoo',
      'vars',
      'tests:\n  - description: x\n    vars: { a: b }\n    assert: []',
      3,
    ],
    [
      'rasa.com: testing/e2e/test-cases',
      'a Rasa',
      'test_cases',
      'fixtures: []\ntest_cases:\n  - test_case: x\n    steps:\n      - user: Hi',
      2,
    ],
    [
      'rasa.com: testing/evals/scenarios',
      'a Rasa',
      'simulation_context',
      'scenario:\n  name: x\n  simulation_context: y\n  goals: {}',
      3,
    ],
    ['rasa 3: stories', 'a Rasa', 'stories', 'version: "3.1"\nstories:\n  - story: x\n    steps: []', 2],
    [
      'elevenlabs: skills/architect-create-llm-test',
      'an ElevenLabs',
      'success_condition',
      'name: x\ntype: llm\nsuccess_condition: y',
      3,
    ],
    ['elevenlabs.io: tests', 'an ElevenLabs', 'chat_history', '- name: x\n  chat_history: []', 2],
    ['docs.pipecat.ai: evals/scenarios', 'a Pipecat', 'turns', 'name: x\nturns:\n  - user: Hi\n    expect: []', 2],
    ['docs.vapi.ai: evals-quickstart', 'a Vapi', 'messages', 'name: x\ntype: chat.mockConversation\nmessages: []', 3],
    ['docs.pipecat.ai: simulated-scenarios', 'a Pipecat', 'persona', 'name: x\npersona: y\nsuccess: z', 2],
  ])('(%s) are recognised as %s file', (_source, tool, field, text, line) => {
    expect(messagesOf(text)).toEqual([
      `body is ${tool} file (${field}, line ${line}), not a suite: write its tests as described in docs/guides/suites.md, "Tests of other tools"`,
    ]);
  });

  it('are recognised in JSON', () => {
    expect(messagesOf('{"tests": [{"name": "x", "success_condition": "y"}]}', 'application/json')).toEqual([
      expect.stringMatching(/^body is an ElevenLabs file \(success_condition\), not a suite: /),
    ]);
  });
});

describe('syntax', () => {
  it.each([
    [
      '- key: a\n  checks:\n    - { type: says, pattern: "\\d" }',
      /unknown escape .*single quotation marks: '\\d' at line 3/,
    ],
    ['- key: a\n  script:\n    - say: Listen: seven', /put the text in quotation marks at line 3/],
    ['- key: a\n  name: - seven', /put the text in quotation marks at line 2/],
  ])('of %j is refused with its line and a fix', (text, message) => {
    expect(messagesOf(text)).toEqual([expect.stringMatching(message)]);
  });

  it('of a pattern in JSON is refused with its line and a fix', () => {
    expect(messagesOf('[{\n  "pattern": "\\d"}]', 'application/json')).toEqual([
      'body must be valid JSON: error at line 2, column 14, write \\\\d for \\d',
    ]);
  });
});
