import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import OpenAI from 'openai';
import { shareOf } from '../../statistics/testing/sample.js';
import { sanitizeText } from '../timeline/text.js';
import { allDialects, answers, written } from '../transports/text/chat-completions/testing/dialects.js';
import { readCompletion } from './llm-response.js';

const responding = (body: string) => new Response(body, { headers: { 'content-type': 'application/json' } });
const read = async (body: string) => (await readCompletion(responding(body))).text;
/** What OpenAI's own client reads, as one text. */
async function readByOpenAi(body: string): Promise<unknown> {
  const client = new OpenAI({ apiKey: 'k', maxRetries: 0, fetch: () => Promise.resolve(responding(body)) });
  const { choices } = await client.chat.completions.create({ model: 'm', messages: [], stream: false });
  const { content, tool_calls: calls = [] } = choices[0]!.message;
  const args = (calls ?? []).map((call) => call.type === 'function' && call.function.arguments);
  return args.length === 0 ? content : textOf([content ?? '', ...args]);
}
const textOf = (parts: unknown[]) => sanitizeText(parts.join('\n').trim());

const text = fc.string({ unit: 'grapheme', maxLength: 30 });
const completion = fc.record({
  content: fc.oneof(text, fc.constant(null)),
  calls: fc.oneof(fc.constant(undefined), fc.constant(null), fc.array(text, { maxLength: 3 })),
  more: fc.record(
    {
      reasoning_content: text,
      refusal: fc.constant(null),
      role: fc.constant('assistant'),
      annotations: fc.constant([]),
    },
    { requiredKeys: [] },
  ),
  top: fc.record(
    {
      id: text,
      usage: fc.constantFrom(null, {}, { prompt_tokens: 1 }),
      error: fc.constant(null),
      object: fc.constant('chat.completion'),
    },
    { requiredKeys: [] },
  ),
  reason: fc.constantFrom('stop', 'length', '', null, undefined, 'eos'),
  reversed: fc.boolean(),
  indent: fc.constantFrom(0, 2),
});
const inOrder = (fields: object, reversed: boolean) =>
  Object.fromEntries(reversed ? Object.entries(fields).reverse() : Object.entries(fields));

describe('completions in generated dialects', () => {
  it("are read as by OpenAI's own client", async () => {
    await fc.assert(
      fc.asyncProperty(completion, async ({ content, calls, more, top, reason, reversed, indent }) => {
        const toolCalls = calls?.map((json, n) => ({
          id: `c${n}`,
          type: 'function',
          function: { name: 'f', arguments: json },
        }));
        const message = inOrder({ ...more, content, tool_calls: toolCalls ?? calls }, reversed);
        const choices = [inOrder({ index: 0, message, finish_reason: reason }, reversed)];
        const body = JSON.stringify(inOrder({ ...top, choices }, reversed), undefined, indent);
        const ours = await read(body);
        // Thoughts are marked, and only read if there is nothing else.
        const said = ours.startsWith('<think>') && more.reasoning_content ? '' : ours;
        expect(said).toBe(textOf([await readByOpenAi(body)]));
      }),
      { numRuns: shareOf(2_000) },
    );
  });

  it('are read as they are meant where they are streamed, which its client does not read here', async () => {
    await fc.assert(
      fc.asyncProperty(answers, allDialects, async (items, dialect) => {
        const words = items.map((item) => ('text' in item ? item.text : '')).join('');
        const args = items.flatMap((item) => ('text' in item ? [] : [item.arguments]));
        expect(await read(written(items, dialect))).toBe(textOf([words, ...args]));
      }),
      { numRuns: shareOf(2_000) },
    );
  });
});

describe("differences to OpenAI's own client", () => {
  const fixture = (name: string) => readFileSync(`test/fixtures/compatibility/language-models/${name}`, 'utf8');

  it('include that it leaves parts as a list, and reads no stream and nothing with [DONE] behind it', async () => {
    const verdict = await read(fixture('parts.json'));
    expect(JSON.parse(verdict)).toMatchObject({ met: true });
    expect(await readByOpenAi(fixture('parts.json'))).toEqual([{ type: 'text', text: verdict }]);
    for (const name of ['streamed.sse', 'json-then-done.txt']) {
      expect(await read(fixture(name))).toBe(verdict);
      await expect(readByOpenAi(fixture(name))).rejects.toThrow();
    }
  });

  it('include the words of a refusal, which it does not take for the content', async () => {
    expect(await read(fixture('refusal.json'))).toBe("I can't help with that request.");
    expect(await readByOpenAi(fixture('refusal.json'))).toBeNull();
  });
});
