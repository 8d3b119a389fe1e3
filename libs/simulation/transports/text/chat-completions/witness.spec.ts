import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { jsonSchema, streamText, tool } from 'ai';
import fc from 'fast-check';
import OpenAI from 'openai';
import { shareOf } from '../../../../statistics/testing/sample.js';
import {
  aiSdkDialects,
  allDialects,
  answers,
  commonDialects,
  inPieces,
  type Item,
  written,
} from './testing/dialects.js';
import { readAnswer } from './testing/read-answer.js';

const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 });

function answering(pieces: readonly Uint8Array[]): () => Promise<Response> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  return () => Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
}

/** What OpenAI's own client reads. */
async function readByOpenAi(pieces: readonly Uint8Array[]) {
  const client = new OpenAI({ apiKey: 'k', maxRetries: 0, fetch: answering(pieces) });
  const stream = client.chat.completions.stream({
    model: 'm',
    messages: [{ role: 'user', content: 'Hi.' }],
    stream: true,
  });
  stream.on('error', () => undefined);
  const { message } = (await stream.finalChatCompletion()).choices[0]!;
  const calls = (message.tool_calls ?? []).map(
    (call) => call.type === 'function' && [call.function.name, call.function.arguments],
  );
  return { words: message.content ?? '', calls };
}

const anyTool = tool({ inputSchema: jsonSchema({}) });

/** What Vercel's AI SDK reads. */
async function readByAiSdk(pieces: readonly Uint8Array[]) {
  const provider = createOpenAICompatible({ name: 'agent', baseURL: 'http://agent.test', fetch: answering(pieces) });
  const calls: unknown[] = [];
  const order: string[] = [];
  let isWord = false;
  const { fullStream } = streamText({
    model: provider('m'),
    prompt: 'Hi.',
    tools: { book: anyTool, find_table: anyTool, sms: anyTool },
    maxRetries: 0,
    onError: () => undefined,
  });
  for await (const part of fullStream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'tool-call') calls.push([part.toolName, part.input]);
    if (part.type === 'tool-input-start') order.push('(call)');
    if (part.type === 'text-delta') order.push(isWord ? order.pop()! + part.text : part.text);
    if (part.type === 'text-delta' || part.type === 'tool-input-start') isWord = part.type === 'text-delta';
  }
  return { words: order.filter((text) => text !== '(call)').join(''), calls, order };
}

/** What was sent. */
function meantBy(items: readonly Item[]) {
  const order: string[] = [];
  for (const [index, item] of items.entries()) {
    if (!('text' in item)) order.push('(call)');
    else if (index > 0 && 'text' in items[index - 1]!) order[order.length - 1] += item.text;
    else order.push(item.text);
  }
  return {
    words: items.map((item) => ('text' in item ? item.text : '')).join(''),
    calls: items.flatMap((item) => ('text' in item ? [] : [[item.name, item.arguments]])),
    order,
  };
}

describe('generated dialects', () => {
  it("are read as by OpenAI's own client, wherever the bytes are cut", async () => {
    await fc.assert(
      fc.asyncProperty(answers, commonDialects, cuts, async (items, dialect, ends) => {
        const pieces = inPieces(written(items, dialect), ends);
        const { words, calls, order } = await readAnswer(pieces);
        expect({ words, calls }).toEqual(await readByOpenAi(pieces));
        expect({ words, calls, order }).toEqual(meantBy(items));
      }),
      { numRuns: shareOf(2_000) },
    );
  });

  it("are read as by Vercel's AI SDK, in the same order, also without an index", async () => {
    await fc.assert(
      fc.asyncProperty(answers, aiSdkDialects, cuts, async (items, dialect, ends) => {
        const pieces = inPieces(written(items, dialect), ends);
        const { words, calls, order } = await readAnswer(pieces);
        const parsed = calls.map(([name, json]) => [name, JSON.parse(json) as unknown]);
        expect({ words, calls: parsed, order }).toEqual(await readByAiSdk(pieces));
      }),
      { numRuns: shareOf(2_000) },
    );
  });

  it("that OpenAI's own client does not read are read as they are meant: without an index, parts of content, named events", async () => {
    await fc.assert(
      fc.asyncProperty(answers, allDialects, cuts, async (items, dialect, ends) => {
        const { words, calls, order } = await readAnswer(inPieces(written(items, dialect), ends));
        expect({ words, calls, order }).toEqual(meantBy(items));
      }),
      { numRuns: shareOf(2_000) },
    );
  });
});

/** A chunk that its client reads. */
const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { role: 'assistant', ...delta }, finish_reason: finish }] })}\n\n`;
const part = (call: object) => chunk({ tool_calls: [{ type: 'function', ...call }] });
const book = { function: { name: 'book', arguments: '{"p":4}' } };
const sms = { function: { name: 'sms', arguments: '{"t":5}' } };

describe("differences to OpenAI's own client", () => {
  it.each<[string, string, object, object | string]>([
    [
      'it makes one call of two that share an index, whose arguments are not JSON',
      part({ index: 0, id: 'a', ...book }) + part({ index: 0, id: 'b', ...sms }) + chunk({}, 'stop'),
      {
        calls: [
          ['book', '{"p":4}'],
          ['sms', '{"t":5}'],
        ],
      },
      { calls: [['sms', '{"p":4}{"t":5}']] },
    ],
    [
      'it drops a call without an index',
      part({ id: 'a', ...book }) + chunk({}, 'stop'),
      { calls: [['book', '{"p":4}']] },
      { calls: [] },
    ],
    [
      'it keeps the last part of a name',
      part({ index: 0, id: 'a', function: { name: 'bo', arguments: '' } }) +
        part({ index: 0, function: { name: 'ok', arguments: '{}' } }) +
        chunk({}, 'stop'),
      { calls: [['book', '{}']] },
      { calls: [['ok', '{}']] },
    ],
    [
      'it writes a list of parts as [object Object]',
      chunk({ content: [{ type: 'text', text: 'The table' }] }) + chunk({}, 'stop'),
      { words: 'The table' },
      { words: '[object Object]' },
    ],
    [
      'it refuses an answer without a reason',
      `${chunk({ content: 'Hi.' })}data: [DONE]\n\n`,
      { words: 'Hi.' },
      'missing finish_reason',
    ],
    [
      'it refuses a named event',
      `event: progress\ndata: {}\n\n${chunk({ content: 'Hi.' }, 'stop')}`,
      { words: 'Hi.' },
      'not iterable',
    ],
    [
      'it does not say a refusal, which is meant for the user',
      chunk({ refusal: 'No.' }, 'stop'),
      { words: 'No.' },
      { words: '' },
    ],
  ])('%s', async (_what, body, ours, theirs) => {
    expect(await readAnswer([body])).toMatchObject(ours);
    const read = readByOpenAi([Buffer.from(body)]);
    if (typeof theirs === 'string') await expect(read).rejects.toThrow(theirs);
    else expect(await read).toMatchObject(theirs);
  });
});
