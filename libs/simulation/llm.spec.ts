import type { ServerResponse } from 'node:http';
import { CallFailure, LanguageModel, VirtualClock } from './index.js';
import { ModelMeter } from './tester-usage.js';
import { sendCompletion, TestServers } from './testing/servers.js';

const servers = new TestServers();
afterEach(() => servers.close());

/** Asks a model whose server returns these answers in order, the last one repeatedly. */
async function ask(
  answers: ((response: ServerResponse, body: any) => void)[],
  { timeoutMs = 5_000, apiKey = 'key' } = {},
) {
  const seen: { body: any; authorization: string | undefined; path: string | undefined }[] = [];
  const url = await servers.http((response, body, { headers, url: path }) => {
    seen.push({ body, authorization: headers.authorization, path });
    answers[Math.min(seen.length, answers.length) - 1]!(response, body);
  });
  const clock = new VirtualClock();
  const meter = new ModelMeter();
  const model = new LanguageModel({ baseUrl: `${url}/v1`, apiKey, model: 'm', timeoutMs });
  const signal = new AbortController().signal;
  const answer = await model
    .ask([{ role: 'user', content: 'x' }], { temperature: 0.3, clock, signal, meter })
    .catch((error: unknown) => {
      if (error instanceof CallFailure) return error.failure;
      throw error;
    });
  return { answer, seen, waitedMs: clock.now(), use: meter.use };
}
const status =
  (code: number, headers = {}, body: unknown = { error: { message: 'no' } }) =>
  (response: ServerResponse) =>
    void response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const good = (response: ServerResponse) => sendCompletion(response, 'Yes.');

describe('language model', () => {
  it('sends the request and counts tokens and time', async () => {
    const { answer, seen, use } = await ask([good]);
    expect(answer).toBe('Yes.');
    expect(seen).toEqual([
      {
        path: '/v1/chat/completions',
        authorization: 'Bearer key',
        body: { model: 'm', messages: [{ role: 'user', content: 'x' }], temperature: 0.3 },
      },
    ]);
    expect(use).toMatchObject({ requests: 1, promptTokens: 100, completionTokens: 10 });
  });

  it.each<[string, ((response: ServerResponse) => void)[], number]>([
    ['429 with Retry-After', [status(429, { 'retry-after': '20' }), good], 20_000],
    ['429 with Retry-After of some digits', [status(429, { 'retry-after': '1.5' }), good], 1_500],
    ['500 twice', [status(500), status(503), good], 1_500],
    [
      'a cut body',
      [
        (response) => {
          response.writeHead(200, { 'content-length': 100 });
          response.write('{"choices');
          setImmediate(() => response.destroy());
        },
        good,
      ],
      500,
    ],
    ['a cut connection', [(response) => response.destroy(), good], 500],
    [
      'invalid JSON',
      [(response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices": ['), good],
      500,
    ],
    ['JSON of another kind', [status(200, {}, { answer: 42 }), good], 500],
  ])('retries after %s', async (_what, answers, waitedMs) => {
    const result = await ask(answers);
    expect(result).toMatchObject({ answer: 'Yes.', waitedMs });
    expect(result.seen).toHaveLength(answers.length);
  });

  it.each<[string, ((response: ServerResponse) => void)[], string, number]>([
    ['repeated 500', [status(500)], 'llm_status', 4],
    ['repeated 429', [status(429)], 'llm_rate_limited', 4],
    ['429 for an hour', [status(429, { 'retry-after': '3600' })], 'llm_rate_limited', 1],
    ['a wrong key', [status(401)], 'llm_refused', 1],
    ['a redirect', [status(307, { location: 'http://127.0.0.1:1/' })], 'llm_refused', 1],
    ['no answer', [() => undefined], 'llm_timeout', 4],
    [
      'an endless body',
      [(response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{')],
      'llm_timeout',
      4,
    ],
    [
      'invalid JSON',
      [(response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('rubbish')],
      'llm_invalid_answer',
      4,
    ],
    ['an answer of 5 MB', [(response) => sendCompletion(response, 'x'.repeat(5_000_000))], 'llm_invalid_answer', 1],
  ])('gives up on %s', async (_what, answers, code, attempts) => {
    const result = await ask(answers, { timeoutMs: code === 'llm_timeout' ? 250 : 5_000 });
    expect(result.answer).toMatchObject({ code, fault: 'infrastructure' });
    expect(result.seen).toHaveLength(attempts);
  });

  it('returns an empty text if the answer has no text', async () => {
    expect((await ask([(response) => sendCompletion(response, null)])).answer).toBe('');
    expect((await ask([status(200, {}, { choices: [] })])).answer).toBe('');
    expect((await ask([status(200, {}, { choices: [null] })])).answer).toBe('');
  });

  it('omits the temperature for models that reject it', async () => {
    const refusal = { error: { message: "Unsupported value: 'temperature' does not support 0.3 with this model." } };
    const { answer, seen } = await ask([status(400, {}, refusal), good]);
    expect(answer).toBe('Yes.');
    expect(seen[1]?.body).not.toHaveProperty('temperature');
  });

  it('stops immediately when aborted', async () => {
    const url = await servers.http(() => undefined);
    const model = new LanguageModel({ baseUrl: url, model: 'm' });
    const controller = new AbortController();
    const options = { temperature: 1, clock: new VirtualClock(), signal: controller.signal, meter: new ModelMeter() };
    const answer = model.ask([], options);
    controller.abort(new Error('cancelled'));
    await expect(answer).rejects.toThrow('cancelled');
  });
});
