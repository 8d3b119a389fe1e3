import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { follow, type RunEvent } from './follow.js';
import { Service } from './service.js';
import { countsOf, runOf } from './testing/factories.js';

type Answer = (response: ServerResponse, request: IncomingMessage) => unknown;

const VERSION = { 'X-API-Version': '1.0.0' };
const foreignJson =
  (status: number, body: object, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
const json: typeof foreignJson = (status, body, headers) => foreignJson(status, body, { ...VERSION, ...headers });
const data = (value: object, status = 200) => json(status, { message: 'Done', data: value });
const hangUp: Answer = (response) => response.destroy();
const refusal = (code: string, message: string) => ({ code, message });

describe('service client', () => {
  let server: Server;
  let service: Service;
  let seen: { method?: string; url?: string; headers: IncomingMessage['headers']; body: string }[];
  let answers: Answer[];

  beforeEach(async () => {
    [seen, answers] = [[], []];
    server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => (body += text));
      request.on('end', () => {
        const { method, url, headers } = request;
        seen.push({ method, url, headers, body });
        void (answers.shift() ?? json(500, {}))(response, request);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    service = new Service({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, apiKey: 'vat_key' });
  });
  afterEach(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });

  it('starts only one run if the connection fails repeatedly', async () => {
    const inProgress = refusal('CONFLICT', 'A request with this Idempotency-Key is still in progress');
    answers = [hangUp, hangUp, json(409, inProgress), data(runOf({ id: 'one' }), 201)];
    expect(await service.startRun('agent', { repeat: 3 })).toMatchObject({ id: 'one' });
    expect(seen).toHaveLength(4);
    expect(seen[0]).toMatchObject({
      method: 'POST',
      url: '/agents/agent/runs',
      headers: { authorization: 'Bearer vat_key', 'content-type': 'application/json' },
      body: '{"repeat":3}',
    });
    const keys = seen.map(({ headers, body }) => `${String(headers['idempotency-key'])} ${body}`);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36} /);
  });

  it('waits for the Retry-After of a rate limit, and announces it', async () => {
    const since = performance.now();
    const announced: string[] = [];
    service.announce = (text) => announced.push(text);
    answers = [json(429, refusal('TOO_MANY_REQUESTS', 'Rate limit exceeded'), { 'Retry-After': '1' }), data(runOf())];
    await service.run('run');
    expect(performance.now() - since).toBeGreaterThanOrEqual(1000);
    expect(announced).toEqual(['Rate limit exceeded (429); waiting 1 s.']);
  });

  it('retries interrupted responses, and while the service is not ready', async () => {
    answers = [
      (response) => {
        response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '1000' }).write('{"data":');
        setTimeout(() => response.destroy(), 20);
      },
      json(503, refusal('SERVICE_UNAVAILABLE', 'Later')),
      data(runOf()),
    ];
    expect(await service.run('run')).toMatchObject({ name: 'Nightly' });
  });

  it('reads every page of calls', async () => {
    const page = (n: number) =>
      json(200, { message: '', meta: { pageCount: 3, page: n }, data: [{ id: `call-${n}` }] });
    answers = [page(1), page(2), page(3)];
    expect((await service.calls('run')).map(({ id }) => id)).toEqual(['call-1', 'call-2', 'call-3']);
    expect(seen.map(({ url }) => url)).toEqual([1, 2, 3].map((n) => `/runs/run/calls?page=${n}&limit=100`));
  });

  it.each<[string, number, Answer]>([
    [
      'refused with its issues',
      3,
      json(400, { ...refusal('BAD_REQUEST', 'Invalid'), issues: [{ message: 'repeat is' }] }),
    ],
    ['failing', 2, json(500, refusal('INTERNAL_SERVER_ERROR', 'Oops'))],
    ['behind a proxy that fails', 2, (response) => response.writeHead(500).end('<html>')],
    ['another server', 3, (response) => response.writeHead(404, { 'Content-Type': 'text/html' }).end('<html>')],
    ['a page instead of JSON', 3, (response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>')],
    ['other JSON', 3, json(200, { hello: 'world' })],
    ['JSON without X-API-Version', 3, foreignJson(200, { message: 'Done', data: runOf() })],
    ['a redirect, which would lose the key', 3, (response) => response.writeHead(302, { Location: 'https://x' }).end()],
  ])('reports the cause of a failure: %s', async (_, exitCode, answer) => {
    answers = [answer];
    await expect(service.run('run')).rejects.toMatchObject({ name: 'CommandError', exitCode });
    expect(seen).toHaveLength(1);
  });

  it('does not show an error of another server as one of the service', async () => {
    answers = [foreignJson(404, refusal('NOT_FOUND', 'Not found'))];
    const message = expect.stringMatching(/is not the URL of the service: .*it has no X-API-Version header$/);
    await expect(service.run('run')).rejects.toMatchObject({ exitCode: 3, message });
  });

  it('shows those details of a refusal that are texts', async () => {
    const issues = [null, { message: 5 }, { message: 'name is too long' }];
    answers = [json(400, { ...refusal('BAD_REQUEST', 'Bad'), issues })];
    await expect(service.run('run')).rejects.toMatchObject({ exitCode: 3, details: ['name is too long'] });
  });

  it('names the run that was not found', async () => {
    answers = [json(404, refusal('NOT_FOUND', 'Not found'))];
    const message = `Run 7 not found at ${service.url} (404 NOT_FOUND)`;
    await expect(service.run('7')).rejects.toMatchObject({ exitCode: 3, message });
  });

  it('names the path that was not found if the URL of the service has a path of its own', async () => {
    answers = [json(404, refusal('NOT_FOUND', 'Not found'))];
    const message = `Path /agents not found at ${service.url} (404 NOT_FOUND)`;
    await expect(service.agents()).rejects.toMatchObject({ exitCode: 3, message });
  });

  describe('following a run', () => {
    const event = (name: string, id: string | undefined, value: object) =>
      `event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(value)}\n\n`;
    const stream =
      (text: string, then: 'end' | 'destroy' | 'stay'): Answer =>
      (response) => {
        response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', ...VERSION }).write(text);
        if (then === 'end') response.end();
        if (then === 'destroy') setTimeout(() => response.destroy(), 50);
      };
    const running = runOf({ status: 'RUNNING', counts: countsOf({ pending: 1 }) });
    const types = (events: RunEvent[]) => events.map(({ type }) => type);

    async function followed(options: { silenceMs?: number; patienceMs?: number } = {}): Promise<RunEvent[]> {
      const events: RunEvent[] = [];
      const signal = AbortSignal.timeout(20_000);
      for await (const event of follow(service, 'run', { signal, ...options })) events.push(event);
      return events;
    }

    it('resumes after the last received event id, and ends with the run', async () => {
      answers = [
        stream(event('call', undefined, { id: 'c1' }) + event('run', '7', running), 'destroy'),
        stream(event('later', '8', {}) + event('call', '9', { id: 'c2' }), 'end'),
        stream(event('run', '10', runOf()), 'stay'),
      ];
      const events = await followed();
      expect(types(events)).toEqual(['call', 'run', 'note', 'call', 'note', 'run']);
      expect(seen.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '7', '9']);
    });

    it('treats a silent connection as lost', async () => {
      answers = [stream(event('run', '7', running), 'stay'), stream(event('run', '8', runOf()), 'end')];
      expect(types(await followed({ silenceMs: 300 }))).toEqual(['run', 'note', 'run']);
    });

    it('polls the run if events are refused', async () => {
      const full = json(429, refusal('TOO_MANY_REQUESTS', 'Too many event streams of the workspace are open'));
      answers = [full, data(running), data(runOf())];
      const events = await followed();
      expect(types(events)).toEqual(['note', 'run', 'run']);
      expect(seen.map(({ url }) => url)).toEqual(['/runs/run/events', '/runs/run', '/runs/run?wait=5']);
    });

    it('polls the run if streams end without events', async () => {
      answers = [stream('', 'end'), stream(': comment\n\n', 'end'), data(running), data(runOf())];
      expect(types(await followed({ patienceMs: 300 }))).toEqual(['note', 'note', 'run', 'run']);
      expect(seen.at(-1)!.url).toBe('/runs/run?wait=5');
    });

    it('fails if the run itself is refused', async () => {
      const gone = json(404, refusal('NOT_FOUND', 'Not found'));
      answers = [gone, gone];
      await expect(followed()).rejects.toMatchObject({ exitCode: 3, status: 404 });
    });
  });
});
