import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { CallFailure, LanguageModel, VirtualClock } from '../index.js';
import { ModelMeter } from '../measures/tester-usage.js';
import { sendCompletion, TestServers } from '../../../test/simulators/servers.js';

const servers = new TestServers();
afterEach(() => servers.close());

const fixture = (name: string) => readFileSync(`test/fixtures/compatibility/language-models/${name}`, 'utf8');
const PARTS = JSON.stringify(JSON.parse(fixture('parts.json')));
const sending =
  (status: number, body: string, type = 'application/json') =>
  (response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': type }).end(body);
type Answer = (response: ServerResponse, body: any) => void;

/** A model behind a server, with the requests that it got. */
async function modelOf(answer: Answer) {
  const requests: any[] = [];
  const url = await servers.http((response, body) => {
    requests.push(body);
    answer(response, body);
  });
  const model = new LanguageModel({ baseUrl: url, model: 'm', timeoutMs: 5_000 });
  const meter = new ModelMeter();
  const ask = (temperature = 0.3) =>
    model.ask([{ role: 'user', content: 'x' }], {
      ...{ temperature, clock: new VirtualClock(), meter },
      signal: new AbortController().signal,
    });
  const code = () =>
    ask().catch((error: unknown) =>
      error instanceof CallFailure ? error.failure.code : Promise.reject(error as Error),
    );
  return { ask, code, requests, meter };
}

/** A server that answers nothing with this parameter. */
const refusing =
  (parameter: string, status: number, body: string): Answer =>
  (response, request) =>
    parameter in request ? sending(status, body)(response) : sendCompletion(response, 'Yes.');

describe('a model that refuses a parameter', () => {
  it.each([
    // openlit/openlit#1068, langwatch/langwatch#1975
    [400, 'temperature-400.json'],
    // FastAPI
    [422, 'temperature-422.json'],
    [422, 'temperature-text.json'],
    // nashsu/llm_wiki#670
    [400, 'temperature-wrapped.json'],
    // BerriAI/litellm#33738
    [400, 'temperature-litellm.json'],
    // appatalks/eva-agent#83
    [400, 'temperature-parameter.json'],
    // voideditor/void#128
    [400, 'temperature-vllm.json'],
  ])('is asked without it from then on, and so are all requests in flight: %i %s', async (status, name) => {
    const { ask, requests } = await modelOf(refusing('temperature', status, fixture(name)));
    const answers = await Promise.all([0, 0.7, 0.7, 1, 1].map((temperature) => ask(temperature)));
    expect(answers).toEqual(Array(5).fill('Yes.'));
    expect(requests.filter((request) => 'temperature' in request)).toHaveLength(5);
    expect(requests.filter((request) => !('temperature' in request))).toHaveLength(5);
    expect(await ask()).toBe('Yes.');
    expect(requests).toHaveLength(11);
    expect(requests[10]).not.toHaveProperty('temperature');
  });

  it('may refuse the field stream, too', async () => {
    const body =
      '{"detail":[{"type":"extra_forbidden","loc":["body","stream"],"msg":"Extra inputs are not permitted"}]}';
    const { ask, requests } = await modelOf((response, request) => {
      if ('stream' in request) sending(422, body)(response);
      else refusing('temperature', 400, fixture('temperature-400.json'))(response, request);
    });
    expect(await ask()).toBe('Yes.');
    expect(requests.at(-1)).toEqual({ model: 'm', messages: [{ role: 'user', content: 'x' }] });
  });

  it('is asked once if it refuses something else', async () => {
    const body = JSON.stringify({ error: { message: "This model's maximum context length is 4096 tokens." } });
    const { code, requests } = await modelOf(sending(400, body));
    expect(await code()).toBe('llm_refused');
    expect(requests).toHaveLength(1);
  });

  it('is asked with it again if it refuses the request without it, too, whatever words it repeats', async () => {
    const { code, requests } = await modelOf(sending(400, '{"error":"Content policy: \\"the temperature is\\""}'));
    expect(await code()).toBe('llm_refused');
    expect(await code()).toBe('llm_refused');
    expect(requests.map((request) => 'temperature' in request)).toEqual([true, false, true, false]);
  });

  it('has as many attempts as any other', async () => {
    let count = 0;
    const { ask, code, requests } = await modelOf((response, request) => {
      if (++count <= 3) sending(500, '{}')(response);
      else refusing('temperature', 400, fixture('temperature-400.json'))(response, request);
    });
    expect(await ask()).toBe('Yes.');
    expect(requests).toHaveLength(5);
    count = -Infinity;
    requests.length = 0;
    const never = await modelOf((response) => (++count < 0 ? undefined : sending(500, '{}')(response)));
    count = 0;
    expect(await never.code()).toBe('llm_status');
    expect(never.requests).toHaveLength(4);
    expect(await code()).toBe('Yes.');
  });
});

describe('the answer of a model', () => {
  it('is asked for as a whole', async () => {
    const { ask, requests } = await modelOf((response) => sendCompletion(response, 'Yes.'));
    await ask();
    expect(requests[0]).toMatchObject({ stream: false });
  });

  const verdict = '{"reasoning": "It says so.", "quote": "your table is booked for Friday", "met": true}';
  it.each<[string, string, string]>([
    // decolua/9router#3492, decolua/9router#3301
    ['JSON with the end of a stream behind it', fixture('json-then-done.txt'), verdict],
    // BYK/loreai#1195, Wei-Shaw/sub2api#2826
    ['an event stream', fixture('streamed.sse'), verdict],
    ['an event stream without its end', fixture('streamed.sse').replace('data: [DONE]', ''), verdict],
    ['an event stream with one whole completion', `data: ${PARTS}\ndata: [DONE]\n\n`, verdict],
    // infiniflow/ragflow#14805: Mistral
    ['content as a list of parts', fixture('parts.json'), verdict],
    [
      'parts with what the model thinks',
      PARTS.replace('"content":[{', '"content":[{"type":"thinking","thinking":[{"type":"text","text":"{}"}]},{'),
      verdict,
    ],
    // livekit/agents#4240
    ['a tool call', fixture('tool-call.json'), verdict],
    [
      'a tool call whose arguments are an object',
      withObject(fixture('tool-call.json')),
      JSON.stringify(JSON.parse(verdict)),
    ],
    ['a refusal', fixture('refusal.json'), "I can't help with that request."],
    ['no words at all', '{"choices":[{"message":{"role":"assistant","content":null},"finish_reason":"stop"}]}', ''],
    ['a byte order mark', `\uFEFF${fixture('tool-call.json')}`, verdict],
  ])('may be %s', async (_what, body, expected) => {
    for (const type of ['application/json', 'text/event-stream', 'text/plain']) {
      const { ask, requests } = await modelOf(sending(200, body, type));
      expect(await ask()).toBe(expected);
      expect(requests).toHaveLength(1);
    }
  });

  it('is what it thought, marked as such, if a server takes all of it for thinking: vllm-project/vllm#30139', async () => {
    const { ask } = await modelOf(sending(200, fixture('reasoning-only.json')));
    expect(await ask()).toMatch(/^<think>The agent confirms it[^]*"met": true}$/);
  });

  it.each([
    ['of a stream', 'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}\n\ndata: [DONE]\n\n'],
    ['of JSON', ''],
  ])('has its tokens counted: %s', async (_what, end) => {
    const usage = '"usage":{"prompt_tokens":7,"completion_tokens":3}';
    const body =
      end === ''
        ? `${fixture('parts.json').trim().slice(0, -1)},${usage}}`
        : fixture('streamed.sse').replace('data: [DONE]', end);
    const { ask, meter } = await modelOf(sending(200, body));
    await ask();
    expect(meter.use).toMatchObject({ promptTokens: 7, completionTokens: 3 });
  });

  it.each([
    ['half a stream', 'data: {"choices":[{"delta":{"content":"Yes'],
    ['an error in place of an answer', '{"error":{"message":"The model is loading"}}'],
    ['a stream of something else', 'data: {"status":"running"}\n\ndata: [DONE]\n\n'],
    ['no choice', '{"choices":[]}'],
  ])('is refused with what came if it is %s', async (_what, body) => {
    const { ask } = await modelOf(sending(200, body));
    const said = JSON.stringify(body.trim().slice(0, 30)).slice(1, -1).replaceAll('\\"', '"');
    await expect(ask()).rejects.toThrow(`is not a chat completion`);
    await expect(ask()).rejects.toThrow(said.slice(0, 20));
  });
});

function withObject(body: string): string {
  const value = JSON.parse(body);
  const call = value.choices[0].message.tool_calls[0].function;
  call.arguments = JSON.parse(call.arguments);
  return JSON.stringify(value);
}
