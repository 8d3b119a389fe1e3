import { CallFailure } from '../../../timeline/failure.js';
import { delta, event } from '../../../../../test/simulators/servers.js';
import { DONE, fixture, says, stop, THE_TABLE } from './testing/bodies.js';
import { readAnswer } from './testing/read-answer.js';

const whole = (message: object, more: object = {}) =>
  JSON.stringify({
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
    ...more,
  });

describe('the end of an answer', () => {
  it.each<[string, string, string]>([
    [
      'an empty reason on each chunk (ollama/ollama#4357, sgl-project/sglang#3912, adolfousier/opencrabs#1499)',
      fixture('finish-empty.sse'),
      'The table costs forty two euros altogether. ',
    ],
    [
      'an empty reason on each chunk, and no other (qualcomm/GenieX#1243)',
      says('The ', '') + says('table', '') + DONE,
      'The table',
    ],
    [
      'a reason of white space (farion1231/cc-switch#5093)',
      says('The ', ' ') + says('table', '\n') + stop,
      'The table',
    ],
    ['null to the end, then [DONE] (jakobdylanc/llmcord#84, can1357/oh-my-pi#9434)', THE_TABLE + DONE, 'The table'],
    [
      'a reason with the last words (jeremychone/rust-genai#164, NousResearch/hermes-agent#94614)',
      says('The ') + says('table', 'stop') + DONE,
      'The table',
    ],
    [
      'a reason with each chunk (BerriAI/litellm#376)',
      says('The ', 'stop') + says('table', 'stop') + DONE,
      'The table',
    ],
    [
      'words after a reason (BerriAI/litellm#27139)',
      says('The ') + delta({}, 'stop') + says('table') + DONE,
      'The table',
    ],
    [
      'the usage after the reason (maximhq/bifrost#191, tensorzero/tensorzero#2078)',
      THE_TABLE + delta({}, 'stop') + event({ choices: [], usage: { total_tokens: 3 } }) + delta({}) + DONE,
      'The table',
    ],
    ['one chunk with everything (lidge-jun/opencodex#3770)', says('The table', 'stop') + DONE, 'The table'],
    ['[DONE] without a line end and without a reason (decolua/9router#3301)', `${THE_TABLE}data: [DONE]`, 'The table'],
    ['an upper-case reason (BerriAI/litellm#12866)', THE_TABLE + delta({}, 'STOP') + DONE, 'The table'],
  ])('%s', async (_source, body, words) => {
    expect(await readAnswer([body])).toMatchObject({ words, isEndUnsaid: false });
  });

  it('the last reason of several steps counts (BerriAI/litellm#27139, HKUDS/nanobot#3551)', async () => {
    expect(await readAnswer([fixture('finish-steps.sse')])).toMatchObject({
      order: ['Let me check. ', '(call)', 'Your table is booked.'],
      finishReason: 'stop',
    });
  });

  it('an end of the body without a reason and [DONE] is an answer of which a warning says so (alfredapp/openai-workflow#52)', async () => {
    expect(await readAnswer([THE_TABLE])).toMatchObject({ words: 'The table', isEndUnsaid: true });
    expect(await readAnswer([THE_TABLE], { headers: { 'content-length': '99' } })).toMatchObject({ isEndUnsaid: true });
  });

  it.each<[string, string, Parameters<typeof readAnswer>[1]]>([
    ['a body of unknown length that ends without a reason', THE_TABLE, { headers: {} }],
    ['half an event', `${THE_TABLE}data: {"choices": [{"del`, {}],
  ])('is cut off: %s', async (_what, body, sent) => {
    await expect(readAnswer([body], sent)).rejects.toMatchObject({ failure: { code: 'stream_cut' } });
  });

  it('a connection that breaks after a reason has lost nothing, unless more had begun', async () => {
    expect(await readAnswer([THE_TABLE + delta({}, 'stop')], { breaks: true })).toMatchObject({ words: 'The table' });
    await expect(
      readAnswer(
        [
          fixture('finish-steps.sse').split(
            'data: {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}',
          )[0]!,
        ],
        { breaks: true },
      ),
    ).rejects.toThrow('interrupted');
  });
});

describe('what a body is', () => {
  const ANSWER = 'Your table is booked.';
  it.each<[string, string, string, string?]>([
    ['an event stream as JSON (BYK/loreai#1195)', 'application/json', fixture('plain.sse')],
    ['an event stream as text (Wei-Shaw/sub2api#2826)', 'text/plain', fixture('plain.sse')],
    ['an event stream as binary data', 'application/octet-stream', fixture('plain.sse')],
    ['JSON as an event stream (decolua/9router#3301)', 'text/event-stream', fixture('whole.txt')],
    [
      'JSON although a stream was asked for (tinyhumansai/tinyagents#56, mistralai/mistral-vibe#619)',
      'application/json',
      fixture('whole.txt'),
    ],
    [
      'JSON with [DONE] behind it (decolua/9router#3492)',
      'text/event-stream',
      `${fixture('whole.txt').trim()}\n\n${DONE}`,
    ],
    [
      'indented JSON with [DONE] behind it',
      'application/json',
      `${JSON.stringify(JSON.parse(fixture('whole.txt')), null, 2)}\n${DONE}`,
    ],
    [
      'chunks in lines without data:',
      'application/x-ndjson',
      fixture('plain.sse').replaceAll('data: ', '').replaceAll('\n\n', '\n').replace('[DONE]\n', ''),
    ],
    ['a stream without blank lines', 'text/event-stream', fixture('plain.sse').replaceAll('\n\n', '\n')],
    ['a stream with CRLF (miruamel/xuan#194)', 'text/event-stream', fixture('plain.sse').replaceAll('\n', '\r\n')],
    ['a stream with CR', 'text/event-stream', fixture('plain.sse').replaceAll('\n', '\r')],
    ['a stream with a byte order mark', 'text/event-stream', `\ufeff${fixture('plain.sse')}`],
    [
      'a stream without a final line end',
      'text/event-stream',
      fixture('plain.sse').split('data: [DONE]')[0]!.trimEnd(),
    ],
    [
      'data without a space (openai/openai-python#498)',
      'text/event-stream',
      fixture('plain.sse').replaceAll('data: ', 'data:'),
    ],
    ['empty data as a heartbeat (lidge-jun/opencodex#1170)', 'text/event-stream', `data:\n\n${fixture('plain.sse')}`],
    [
      'comments, retry and id first (openrouter.ai/docs)',
      'text/event-stream',
      `\n: OPENROUTER PROCESSING\n\nretry: 3000\nid: 1\n\n${fixture('plain.sse')}`,
    ],
    ['an unknown field first', 'text/event-stream', `version: 2\n${fixture('plain.sse')}`],
    [
      'named events of the agent (janhq/jan#8280, danny-avila/LibreChat#12919)',
      'text/event-stream',
      fixture('named-events.sse'),
    ],
    [
      'a named event that is not JSON, or reports an error of a tool',
      'text/event-stream',
      `event: log\ndata: looking\n\nevent: tool\ndata: {"error":"not found"}\n\n${fixture('plain.sse')}`,
    ],
    ['data: null (anomalyco/opencode#50314)', 'text/event-stream', `data: null\n\n${fixture('plain.sse')}`],
    [
      'choices that are null, or absent',
      'text/event-stream',
      event({ choices: null }) + event({ status: 'running' }) + fixture('plain.sse'),
    ],
    ['chunks with a name', 'text/event-stream', fixture('plain.sse').replaceAll('data: {', 'event: message\ndata: {')],
    [
      'the filter results of Azure first',
      'text/event-stream',
      event({ choices: [], prompt_filter_results: [] }) + fixture('plain.sse'),
    ],
    [
      'error: null beside choices',
      'text/event-stream',
      event({ error: null, choices: [{ delta: { content: ANSWER } }] }) + stop,
    ],
    [
      'a choice without delta',
      'text/event-stream',
      event({ choices: [{ delta: null }] }) + event({ choices: [{}] }) + fixture('plain.sse'),
    ],
    ['message in place of delta', 'text/event-stream', event(JSON.parse(fixture('whole.txt')) as object) + DONE],
    [
      'delta and message, and an index that counts up (microsoft/foundry-local#144)',
      'text/event-stream',
      ['Your table', ' is booked.']
        .map((content, n) => event({ choices: [{ index: 197 + n, delta: { content }, message: { content } }] }))
        .join('') +
        event({ choices: [{ index: 199, delta: {}, finish_reason: 'stop' }] }) +
        DONE,
    ],
    [
      'two choices',
      'text/event-stream',
      event({
        choices: [
          { index: 1, delta: { content: 'No.' } },
          { index: 0, delta: { content: ANSWER } },
        ],
      }) + stop,
    ],
  ])('%s', async (_source, type, body) => {
    const headers = { 'content-type': type, 'transfer-encoding': 'chunked' };
    expect(await readAnswer([body], { headers })).toMatchObject({ words: ANSWER, isEndUnsaid: false });
  });

  it.each<[string, string, string, RegExp]>([
    [
      'an error in the stream (aaif-goose/goose#8027)',
      says('The') + event({ error: { message: 'overloaded' } }),
      'agent_error',
      /overloaded/,
    ],
    ['an error that is text', event({ error: 'overloaded' }), 'agent_error', /overloaded/],
    ['an error as vLLM sends it', event({ object: 'error', message: 'overloaded' }), 'agent_error', /overloaded/],
    ['an event named error', `event: error\n${event({ message: 'overloaded' })}`, 'agent_error', /overloaded/],
    [
      'an error beside choices (OpenRouter)',
      event({ error: { message: 'overloaded' }, choices: [{ delta: { content: '' }, finish_reason: 'error' }] }),
      'agent_error',
      /overloaded/,
    ],
    ['the reason error', says('The', 'error'), 'agent_error', /finish_reason is error/],
    [
      'another protocol',
      event({ type: 'response.output_text.delta', delta: 'Hi' }) + DONE,
      'invalid_answer',
      /no list of choices/,
    ],
    ['a web page', '<html></html>', 'invalid_answer', /not a chat completion/],
  ])('is a failure that says what came: %s', async (_source, body, code, message) => {
    const failure: unknown = await readAnswer([body]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CallFailure);
    expect((failure as CallFailure).failure).toMatchObject({ code, message: expect.stringMatching(message) });
  });
});

describe('what is said', () => {
  it.each<[string, object, string]>([
    [
      'the texts of a list without what was thought (NousResearch/hermes-agent#4748, infiniflow/ragflow#14805)',
      {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
          { type: 'text', text: 'They meet.' },
        ],
      },
      'They meet.',
    ],
    [
      'a list with references (meilisearch/meilisearch#6327)',
      {
        content: [
          { type: 'reference', reference_ids: [1] },
          { type: 'text', text: 'They meet.' },
        ],
      },
      'They meet.',
    ],
    [
      'a list of other parts and plain texts',
      { content: [{ type: 'output_text', text: 'They ' }, 'meet', { text: '.' }, null] },
      'They meet.',
    ],
    ['a refusal', { content: null, refusal: 'No.' }, 'No.'],
    ['a refusal in a list', { content: [{ type: 'refusal', refusal: 'No.' }] }, 'No.'],
    ['not the reasoning', { content: 'Yes.', reasoning_content: 'Hm.', reasoning: 'Hm.' }, 'Yes.'],
    [
      'the tags of thinking, which a voice would read (pipecat-ai/pipecat#4901)',
      { content: '<think>Hm.</think>Yes.' },
      '<think>Hm.</think>Yes.',
    ],
  ])('%s', async (_source, message, words) => {
    expect(await readAnswer([delta(message) + stop])).toMatchObject({ words });
    expect(await readAnswer([whole(message)])).toMatchObject({ words });
  });
});
