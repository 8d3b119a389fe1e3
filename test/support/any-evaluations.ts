import fc from 'fast-check';
import { GENDERS, INTERRUPTS, PERSONALITY_PROVIDERS } from '../../libs/evaluation-definition/index.js';
import { normaliseText } from '../../libs/text/index.js';

/** Texts that formats tend to change. */
const nasty = [
  '=1+1',
  "'",
  "''",
  "'=x",
  '"',
  '""',
  'a\nb',
  'a\r\nb',
  '\r',
  ' ',
  '\t',
  '  x  ',
  'no',
  'on',
  'y',
  '~',
  'null',
  'true',
  '1e3',
  '1e3000',
  '007',
  '0x1F',
  '0o7',
  '.inf',
  '2026-01-01',
  '12:30:45',
  '- a',
  'a: b',
  '# x',
  '{a}',
  '[a]',
  '&a',
  '*a',
  '!t',
  '| x',
  '>',
  '%',
  '`',
  '@',
  '🙂',
  'é',
  'e\u0301',
  '\u2028',
  '\u0085',
  '\uFEFF',
  '\u00a0',
  '\u0001',
  '\u007f',
  'a\\b',
  '<<',
  '---',
  '...',
  '---\n',
  ',',
  ';',
  '=',
  '：',
  '\u{10FFFF}',
  '\uFFFE',
  '\uD7FF',
  'x'.repeat(500),
];
/** What is refused in texts and names of tools, because it could never match. */
const EXPRESSION = /\*$|\.\*|\w\|\w|\\[dswDSW]|\\b\w|^\/|\[[^\]]*\w-\w|^\(\?|^file:/;
const text = (max: number) =>
  fc
    .array(fc.oneof(fc.constantFrom(...nasty), fc.string({ unit: 'binary' })), { minLength: 1, maxLength: 3 })
    .map((parts) => parts.join(''))
    .filter(
      (value) =>
        value.length <= max &&
        normaliseText(value) !== '' &&
        value.trim() !== '' &&
        !value.includes('\u0000') &&
        !EXPRESSION.test(value) &&
        value.isWellFormed(),
    );
const plain = text(60).filter((value) => /^[^\s,;]([^,;\r\n]*[^\s,;])?$/.test(value));
const matcher = fc
  .tuple(text(400), fc.boolean())
  .map(([value, partOfWord]) => ({ text: value, ...(partOfWord && { partOfWord }) }));
const value = fc.letrec((tie) => ({
  node: fc.oneof(
    { maxDepth: 3 },
    text(50),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(tie('node'), { maxLength: 3 }),
    fc.dictionary(
      plain.filter((name) => !(name in {}) && name !== 'prototype'),
      tie('node'),
      { maxKeys: 3 },
    ),
  ),
})).node;
const number = fc.double({ noNaN: true, noDefaultInfinity: true });
const rows = fc.uniqueArray(fc.record({ a: text(50), größe: fc.oneof(fc.integer(), fc.boolean(), number) }), {
  maxLength: 3,
  selector: (row) => JSON.stringify(row),
});
const toolArguments = fc.dictionary(fc.constantFrom('a', 'no', '1'), value);
const toolCalls = {
  tool: plain,
  arguments: toolArguments,
  argumentsSchema: fc.record({ required: fc.constant(['a']) }),
  same: toolArguments.filter((wanted) => Object.keys(wanted).length > 0),
};
const historyLine = fc.oneof(
  fc.record({ caller: text(50) }),
  fc.record({ agent: text(50) }),
  fc.record({ tool: plain, arguments: toolArguments, result: value }, { requiredKeys: ['tool'] }),
);
const times = fc.integer({ min: 1, max: 100 });
const toolResult = fc.oneof(
  fc.record({ ...toolCalls, result: value, times, delayMs: times }, { requiredKeys: ['tool', 'result'] }),
  fc.record(
    { ...toolCalls, results: fc.array(value, { minLength: 1, maxLength: 3 }) },
    { requiredKeys: ['tool', 'results'] },
  ),
  fc.record({ ...toolCalls, error: text(50) }, { requiredKeys: ['tool', 'error'] }),
  fc.record({ ...toolCalls, noAnswer: fc.constant(true as const) }, { requiredKeys: ['tool', 'noAnswer'] }),
);
/** What is expected of a line, at most one of each kind. */
const expect = fc
  .record({ said: text(50), tool: plain, words: fc.integer({ min: 1, max: 99 }) })
  .map(({ said, tool, words }) => [
    { type: 'says', text: said },
    { type: 'calls_tool', tool, times: { max: 1 } },
    { type: 'any_of', checks: [{ type: 'max_answer_words', words }], required: false },
  ]);
const steps = fc.array(
  fc.oneof(
    fc.record({ say: text(500), when: fc.record({ says: matcher }), expect }),
    fc.record({ say: text(50), to: fc.record({ says: matcher }) }),
    fc.record({ waitSeconds: fc.double({ min: 0, max: 1, noNaN: true }) }),
    fc.record({
      answers: fc.array(fc.record({ when: fc.record({ notSays: matcher }), say: text(50), expect }), {
        minLength: 1,
        maxLength: 3,
      }),
    }),
  ),
  { maxLength: 4 },
);
const keys = fc.stringMatching(/^[0-9*#A-D][0-9*#A-Dw]{0,9}$/);
/** Steps of voice calls, which depend on the line before them. */
const voiceSteps = fc
  .record({ line: fc.array(text(50), { minLength: 1, maxLength: 3 }), over: text(50), pressed: keys, ms: fc.nat(999) })
  .map(({ line, over, pressed, ms }) => [
    { say: line.flatMap((part, index) => (index === 0 ? [part] : [{ pauseMs: ms + 1 }, part])) },
    { backchannel: 'uh-huh', afterMs: ms },
    { noise: 'door', afterMs: ms + 1_000 },
    { say: over, bargeIn: { afterMs: ms + 2_000 } },
    { noise: 'cough' },
    { press: pressed },
  ]);
const between = (min: number, max: number) => fc.double({ min, max, noNaN: true }).map((decibels) => decibels + 0);
const conditions = fc.record(
  {
    seed: fc.nat(),
    band: fc.constantFrom('telephone', 'wide'),
    noise: fc.record({ snrDb: between(-10, 60), type: fc.constantFrom('hum', 'babble') }),
    gainDb: between(-40, 20),
    echoDb: between(-60, -1),
    jitterMs: between(0, 500),
  },
  { requiredKeys: [] },
);
const evaluation = fc.record({
  key: plain,
  name: text(255),
  scenarioText: text(1_000),
  generalInstructions: fc.oneof(fc.constant(''), text(1_000)),
  vendorCallPhoneNumber: fc.oneof(fc.constant(''), text(255)),
  critical: fc.boolean(),
  tags: fc.uniqueArray(plain, { maxLength: 5 }),
  script: fc.tuple(steps, voiceSteps).map(([first, then]) => [...first, ...then]),
  checks: fc
    .tuple(
      text(100),
      fc.record({
        type: fc.constant('calls_tool'),
        tool: plain,
        arguments: fc.dictionary(fc.constantFrom('a', 'no', '1', '=x'), value),
      }),
    )
    .map(([said, tool]) => [{ type: 'says', text: said }, tool]),
  criteria: text(500).map((sentence) => [{ text: sentence, weight: 0.1 }]),
  maxTurns: fc.integer({ min: 10, max: 200 }),
  language: fc.constantFrom(null, 'de', 'en-GB', 'pt-BR'),
  timezone: fc.constantFrom(null, 'Europe/Berlin', 'Asia/Tokyo'),
  variables: rows,
  history: fc.array(historyLine, { maxLength: 2 }),
  toolResults: fc.array(toolResult, { maxLength: 1 }),
  conditions,
  turnEndMs: fc.integer({ min: 200, max: 3_000 }),
  fillers: fc.constant(false),
  scope: fc.constant('tests' as const),
  appliesTo: fc.constant(null),
  agentVariables: fc.dictionary(fc.constantFrom('a', 'customer_name'), fc.oneof(plain, fc.boolean(), fc.integer())),
});

/** Evaluations without their personalities, with different keys. */
export const anyEvaluations = fc.uniqueArray(evaluation, { maxLength: 4, minLength: 1, selector: ({ key }) => key });

const anyText = (max: number) => fc.oneof(fc.constant(''), fc.constant(' '), text(max));
const personality = fc.record(
  {
    name: fc.oneof(fc.constantFrom(' ', '__proto__', 'toString', 'a\nb'), text(255)),
    description: anyText(300),
    prompt: anyText(1_000),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    accent: anyText(255),
    backgroundNoise: fc.boolean(),
    gender: fc.constantFrom(...GENDERS),
    provider: fc.constantFrom(...PERSONALITY_PROVIDERS),
    voice_id: anyText(255),
    interrupts: fc.constantFrom(...INTERRUPTS),
  },
  { requiredKeys: ['name'] },
);

/** Files with personalities, of which some may be unused. */
export const anySuite = fc
  .record({
    personalities: fc.uniqueArray(personality, { minLength: 1, maxLength: 3, selector: ({ name }) => name }),
    evaluations: anyEvaluations,
    choices: fc.array(fc.nat(), { minLength: 4, maxLength: 4 }),
  })
  .map(({ personalities, evaluations, choices }) => ({
    personalities,
    evaluations: evaluations.map(({ vendorCallPhoneNumber, ...rest }, index) => ({
      ...rest,
      // Without one it is the agent's.
      ...(index % 2 === 0 && { vendorCallPhoneNumber }),
      personality: personalities[(choices[index] ?? 0) % personalities.length]?.name,
    })),
  }));
