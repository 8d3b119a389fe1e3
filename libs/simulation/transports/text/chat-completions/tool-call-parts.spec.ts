import { delta } from '../../../../../test/simulators/servers.js';
import { DONE, fixture, says, stop, THE_TABLE } from './testing/bodies.js';
import { readAnswer } from './testing/read-answer.js';

const part = (call: object, finish: string | null = null) => delta({ tool_calls: [call] }, finish);
const fn = (name?: unknown, json?: unknown) => ({
  function: { ...(name !== undefined && { name }), ...(json !== undefined && { arguments: json }) },
});
const called = delta({}, 'tool_calls') + DONE;
const BOOK = ['book', '{"p":4}'] as const;
const SMS = ['sms', '{"t":"5"}'] as const;

describe('tool calls', () => {
  it.each<[string, string, readonly (readonly [string, string])[]]>([
    [
      'with one index and their own ids (NousResearch/hermes-agent#62937, BerriAI/litellm#16194, mcowger/plexus#691)',
      fixture('tools-index-0.sse'),
      [
        ['book_table', '{"people":4}'],
        ['send_sms', '{"to":"5550142"}'],
      ],
    ],
    [
      'without an index, one a chunk (openai/openai-python#2806)',
      fixture('tools-no-index.sse'),
      [
        ['book_table', '{"people":4}'],
        ['send_sms', '{"to":"5550142"}'],
      ],
    ],
    [
      'without an index, two in a chunk (SamSaffron/term-llm#314)',
      delta({
        tool_calls: [
          { id: 'a', ...fn(...BOOK) },
          { id: 'b', ...fn(...SMS) },
        ],
      }) + called,
      [BOOK, SMS],
    ],
    [
      'without an index and an id, in parts',
      part(fn('book', '{"p"')) + part(fn(undefined, ':4}')) + part(fn(...SMS)) + called,
      [BOOK, SMS],
    ],
    [
      'with null for an index (Alishahryar1/free-claude-code#633)',
      part({ index: null, id: 'a', ...fn(...BOOK) }) + called,
      [BOOK],
    ],
    [
      'with an index as text',
      part({ index: '0', id: 'a', ...fn('book', '{"p"') }) + part({ index: '0', ...fn(undefined, ':4}') }) + called,
      [BOOK],
    ],
    [
      'with an index from 1, and a gap (lunary-ai/abso#2)',
      part({ index: 1, id: 'a', ...fn(...BOOK) }) + part({ index: 3, id: 'b', ...fn(...SMS) }) + called,
      [BOOK, SMS],
    ],
    [
      'with another id in each part, which is one call (poolsideai/pool#9, cubist38/mlx-openai-server#216)',
      part({ index: 0, id: 'a', ...fn('book', '') }) +
        part({ index: 0, id: 'b', ...fn(undefined, '{"p"') }) +
        part({ index: 0, id: 'c', ...fn(undefined, ':4}') }) +
        called,
      [BOOK],
    ],
    [
      'with another id and the name in each part, which is one call (vllm-project/vllm)',
      part({ index: 0, id: 'a', ...fn('book', '') }) + part({ index: 0, id: 'b', ...fn('book', '{"p":4}') }) + called,
      [BOOK],
    ],
    [
      'of the same tool with one index (huggingface/smolagents#1958, langchain-ai/langchain#35281)',
      part({ index: 0, id: 'a', ...fn('search', '{"q":1}') }) +
        part({ index: 0, id: 'b', ...fn('search', '{"q":2}') }) +
        called,
      [
        ['search', '{"q":1}'],
        ['search', '{"q":2}'],
      ],
    ],
    [
      'of the same tool with one index and no id',
      part({ index: 0, ...fn('search', '{"q":1}') }) + part({ index: 0, ...fn('search', '{"q":2}') }) + called,
      [
        ['search', '{"q":1}'],
        ['search', '{"q":2}'],
      ],
    ],
    [
      'with the name in each part (NousResearch/hermes-agent#11984, ggml-org/llama.cpp#13800)',
      part({ index: 0, id: 'a', ...fn('book', '') }) +
        part({ index: 0, id: 'a', ...fn('book', '{"p"') }) +
        part({ index: 0, id: 'a', ...fn('book', ':4}') }) +
        part({ index: 0, id: 'a', ...fn('book', '') }) +
        called,
      [BOOK],
    ],
    [
      'with a name in parts',
      part({ index: 0, id: 'a', ...fn('bo', '') }) + part({ index: 0, ...fn('ok', '{"p":4}') }) + called,
      [BOOK],
    ],
    [
      'that are interleaved (maximhq/bifrost#1829, QwenLM/Qwen-Agent#943)',
      delta({
        tool_calls: [
          { index: 0, id: 'a', ...fn('book', '') },
          { index: 1, id: 'b', ...fn('sms', '') },
        ],
      }) +
        part({ index: 1, ...fn(undefined, '{"t":"5"}') }) +
        part({ index: 0, ...fn(undefined, '{"p":4}') }) +
        called,
      [BOOK, SMS],
    ],
    [
      'whose arguments come before the name (vercel/ai#15879)',
      part({ index: 0, id: 'a', ...fn(undefined, '{"p"') }) + part({ index: 0, ...fn('book', ':4}') }) + called,
      [BOOK],
    ],
    [
      'with null for arguments (ogx-ai/ogx#5462, openai-php/client#623)',
      part({ index: 0, id: 'a', ...fn('book', null) }) + part({ index: 0, id: null, ...fn(null, '{"p":4}') }) + called,
      [BOOK],
    ],
    [
      'with an empty object before the arguments',
      part({ index: 0, id: 'a', ...fn('book', '{}') }) + part({ index: 0, ...fn(undefined, '{"p":4}') }) + called,
      [BOOK],
    ],
    [
      'with arguments as an object (ggml-org/llama.cpp#20198)',
      part({ index: 0, id: 'a', ...fn('book', { p: 4 }) }) + called,
      [BOOK],
    ],
    ['without arguments', part({ index: 0, id: 'a', ...fn('book') }) + called, [['book', '']]],
    [
      'with empty texts in further parts (Azure)',
      part({ index: 0, id: 'a', ...fn('book', '{"p"') }) + part({ index: 0, id: '', ...fn('', ':4}') }) + called,
      [BOOK],
    ],
    [
      'that is sent twice with its id, which is one call',
      part({ index: 0, id: 'a', ...fn(...BOOK) }).repeat(2) + called,
      [BOOK],
    ],
    [
      'with one id and two indexes, which are two calls',
      part({ index: 0, id: 'a', ...fn(...BOOK) }) + part({ index: 1, id: 'a', ...fn(...SMS) }) + called,
      [BOOK, SMS],
    ],
    [
      'with the reason stop (googleapis/python-genai#2868, BerriAI/litellm#12866, Blaizzy/mlx-vlm#1014)',
      part({ index: 0, id: 'a', ...fn(...BOOK) }) + stop,
      [BOOK],
    ],
    ['without the object function', part({ index: 0, id: 'a', name: 'book', arguments: '{"p":4}' }) + called, [BOOK]],
    [
      'in the older form (MeetKai/functionary#92, openai/openai-openapi)',
      delta({ function_call: { name: 'book', arguments: '' } }) +
        delta({ function_call: { arguments: '{"p":4}' } }) +
        delta({}, 'function_call') +
        DONE,
      [BOOK],
    ],
    [
      'in both forms, which is one call',
      delta({
        tool_calls: [{ index: 0, id: 'a', ...fn(...BOOK) }],
        function_call: { name: 'book', arguments: '{"p":4}' },
      }) + called,
      [BOOK],
    ],
    [
      'in parts of both forms, which are one call',
      delta({
        tool_calls: [{ index: 0, id: 'a', ...fn('book', '') }],
        function_call: { name: 'book', arguments: '' },
      }) +
        delta({ tool_calls: [{ index: 0, ...fn(undefined, '{"p":4}') }], function_call: { arguments: '{"p":4}' } }) +
        called,
      [BOOK],
    ],
    [
      'in the older form beside another one',
      part({ index: 0, id: 'a', ...fn(...BOOK) }) +
        delta({ function_call: { name: 'cancel', arguments: '{}' } }) +
        called,
      [BOOK, ['cancel', '{}']],
    ],
    [
      'that are empty',
      delta({ content: 'Hi.', tool_calls: [{}] }) + delta({ tool_calls: [] }) + delta({ tool_calls: null }) + stop,
      [],
    ],
    [
      'that the agent says as words, which are not calls (vllm-project/vllm#17109, sgl-project/sglang#3387)',
      says('{"name": "book", "arguments": {"p": 4}}') + stop,
      [],
    ],
  ])('%s', async (_source, body, calls) => {
    expect((await readAnswer([body])).calls).toEqual(calls);
  });

  it('a call that comes before words stands before them, and its place is its first part', async () => {
    const first = part({ index: 0, id: 'a', ...fn('book', '{"p"') });
    const rest = part({ index: 0, ...fn(undefined, ':4}') });
    expect(await readAnswer([first + THE_TABLE + rest + stop])).toMatchObject({
      order: ['(call)', 'The table'],
      calls: [BOOK],
    });
  });
});
