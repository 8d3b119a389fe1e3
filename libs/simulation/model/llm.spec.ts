import type { ServerResponse } from 'node:http';
import { CallFailure, type Failure, LanguageModel, type LanguageModelOptions, VirtualClock } from '../index.js';
import { ModelMeter } from '../measures/tester-usage.js';
import { sendCompletion, TestServers } from '../../../test/simulators/servers.js';

const servers = new TestServers();
afterEach(() => servers.close());

/** Asks a model whose server returns these answers in order, the last one repeatedly. */
async function ask(
  answers: ((response: ServerResponse, body: any) => void)[],
  {
    timeoutMs = 5_000,
    apiKey = 'key',
    path: basePath = '/v1',
    ...more
  }: Partial<LanguageModelOptions> & { path?: string } = {},
) {
  const seen: { body: any; authorization: string | undefined; path: string | undefined }[] = [];
  const url = await servers.http((response, body, { headers, url: path }) => {
    seen.push({ body, authorization: headers.authorization, path });
    answers[Math.min(seen.length, answers.length) - 1]!(response, body);
  });
  const clock = new VirtualClock();
  const meter = new ModelMeter();
  const model = new LanguageModel({ baseUrl: `${url}${basePath}`, apiKey, model: 'm', timeoutMs, ...more });
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
        body: { model: 'm', messages: [{ role: 'user', content: 'x' }], temperature: 0.3, stream: false },
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

  describe('failure', () => {
    const KEY = 'sk-proj-0123456789abcdef';
    const failureOf = async (answer: (response: ServerResponse, body: any) => void) => {
      const { answer: failed } = await ask([answer], { apiKey: KEY, shownUrl: 'LLM_BASE_URL' });
      return failed as Failure;
    };

    it.each<[string, (response: ServerResponse) => void, string]>([
      [
        'a status with its body',
        status(401, {}, { error: { message: 'Wrong key' } }),
        `refused the request: HTTP 401 (LLM_BASE_URL); it said "{"error":{"message":"Wrong key"}}"`,
      ],
      [
        'the page of a gateway',
        (response) => void response.writeHead(403, { 'content-type': 'text/html' }).end('<h1>\r\n  No\u0000!</h1>'),
        'HTTP 403 (LLM_BASE_URL); it said "<h1> No\uFFFD!</h1>"',
      ],
      [
        'where a redirect leads to, without its path',
        (response) => void response.writeHead(302, { location: 'https://login.example.com/x?token=1' }).end(),
        'HTTP 302 to https://login.example.com (LLM_BASE_URL); it said nothing',
      ],
      [
        'what is not a chat completion',
        (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Welcome</p>'),
        'is not a chat completion (LLM_BASE_URL); it said "<p>Welcome</p>"',
      ],
    ])('says %s', async (_what, answer, expected) => {
      expect((await failureOf(answer)).message).toContain(expected);
    });

    it('contains at most 500 characters of an error that never ends, soon', async () => {
      const begun = performance.now();
      const { message } = await failureOf((response) => {
        response.writeHead(400);
        const timer = setInterval(() => response.write('and so on '.repeat(100)), 5);
        response.once('close', () => clearInterval(timer));
      });
      expect(message).toMatch(/it said "(and so on ){49}and so on…"$/);
      const dripped = await failureOf((response) => {
        response.writeHead(400).write('Wait');
        const timer = setInterval(() => response.write('.'), 100);
        response.once('close', () => clearInterval(timer));
      });
      expect(dripped.message).toMatch(/it said "Wait\.+"$/);
      expect(performance.now() - begun).toBeLessThan(20_000);
    });

    it('does not contain the API key that the server repeats', async () => {
      const { message } = await failureOf(status(401, {}, { error: `Incorrect API key provided: ${KEY}` }));
      expect(message).toContain('Incorrect API key provided: [redacted]');
      const base64 = await failureOf(
        (response) => void response.writeHead(401).end(Buffer.from(`Bearer ${KEY}`).toString('base64')),
      );
      expect(base64.message).not.toContain(Buffer.from(`Bearer ${KEY}`).toString('base64').slice(12, 30));
    });

    it('names the error of the system, and the URL without its secrets', async () => {
      const { answer } = await ask([(response) => response.destroy()], { path: '/v1?key=topsecretvalue' });
      expect((answer as Failure).message).toMatch(
        /was unreachable, or the connection broke off: [A-Z_]+ \(http:\/\/127\.0\.0\.1:\d+\/v1\)$/,
      );
    });

    it('has the Retry-After, so that the call is not repeated before', async () => {
      expect(await failureOf(status(429, { 'retry-after': '3600' }))).toMatchObject({ retryAfterMs: 3_600_000 });
    });
  });

  it('returns an empty text if the answer has no text', async () => {
    expect((await ask([(response) => sendCompletion(response, null)])).answer).toBe('');
  });

  it('reports each request with its outcome', async () => {
    const requests: string[] = [];
    const onRequest = (ms: number, outcome: string) => requests.push(`${outcome} ${typeof ms}`);
    await ask([status(500), good], { onRequest });
    expect(requests).toEqual(['failed number', 'answered number']);
  });

  it('stops immediately when aborted', async () => {
    const url = await servers.http(() => undefined);
    const onRequest = jest.fn();
    const model = new LanguageModel({ baseUrl: url, model: 'm', onRequest });
    const controller = new AbortController();
    const options = { temperature: 1, clock: new VirtualClock(), signal: controller.signal, meter: new ModelMeter() };
    const answer = model.ask([], options);
    controller.abort(new Error('cancelled'));
    await expect(answer).rejects.toThrow('cancelled');
    expect(onRequest).not.toHaveBeenCalled();
  });
});
