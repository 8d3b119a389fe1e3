/** Nested too deeply for what writes JSON; the reader of such an answer may say so. */
export const DEEP = '['.repeat(20_000) + ']'.repeat(20_000);
/**
 * Other JSON for a field, beside harmless JSON of the same shape. U+0000 in an answer of a model: Pythagora-io/gpt-pilot#753;
 * in the output of a tool: nano-step/nano-brain#181; halves of a pair from a cut text: microsoft/playwright-mcp#1410,
 * langchain-ai/deepagentsjs#631; in the part of a stream: elizaOS/eliza#30904.
 */
export const HOSTILE_VALUES: readonly (readonly [name: string, json: string, harmless: string])[] = [
  ['U+0000', String.raw`"Wel\u0000come!"`, '"Wel come!"'],
  ['a high surrogate at the end', String.raw`"Welcome!\ud83d"`, '"Welcome!"'],
  ['a low surrogate', String.raw`"\ude00Welcome!"`, '"Welcome!"'],
  ['control and bidirectional characters', String.raw`"Welcome!\u202e\u001b[2J\u2028\u0085\r\n"`, '"Welcome!"'],
  ['U+0000 as JSON in JSON', String.raw`"{\"a\\u0000\":\"\\ud800\"}"`, String.raw`"{\"a\":\"b\"}"`],
  [
    'U+0000 in names',
    String.raw`{"a\u0000":{"\udc00":["\u0000"]},"__proto__":{"b":1}}`,
    '{"a":{"b":["c"]},"d":{"b":1}}',
  ],
  ['a number beyond all', '1e999', '1e9'],
  ['negative zero', '-0', '0'],
  ['a list nested too deeply', DEEP, '[[[]]]'],
  ['null', 'null', 'null'],
];

/** What cannot be stored as it is, or is read back as something else. */
export function unstorable(value: unknown): unknown[] {
  if (typeof value === 'string') return value.includes('\u0000') || !value.isWellFormed() ? [value] : [];
  if (typeof value === 'number') return !Number.isFinite(value) || Object.is(value, -0) ? [value] : [];
  return Object.entries(value ?? {}).flatMap(([name, inner]) => [...unstorable(name), ...unstorable(inner)]);
}
