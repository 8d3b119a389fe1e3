import { randomUUID } from 'node:crypto';
import { type ApiResponse, HttpClient } from '../support/http.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const EMOJI = '\u{1f600}';
/** The required fields of an agent. */
const AGENT = { provider: 'AGENT_PROVIDER_1', assistantId: 'assistant-1', apiKey: 'provider-key-1' };

interface Rejection {
  readonly code: string;
  readonly issues?: { readonly message: string }[];
}

describe('hostile input at the limits', () => {
  let app: TestApp;
  let client: HttpClient;
  let workspaceId: string;

  beforeAll(async () => {
    app = await createTestApp();
    const workspace = await app.createWorkspace();
    ({ workspaceId } = workspace);
    client = new HttpClient(app.url, workspace.apiKey);
  });
  afterAll(() => app.close());

  const issuesOf = ({ body }: ApiResponse<Rejection>) => (body.issues ?? []).map(({ message }) => message);
  const expectRejected = (response: ApiResponse<Rejection>, ...issues: string[]) => {
    expect([response.status, response.body.code, issuesOf(response)]).toEqual([400, 'BAD_REQUEST', issues]);
  };
  const create = (path: string, body: object | string, headers?: Record<string, string>) =>
    client.post<Rejection & { data: Record<string, unknown> }>(path, body, headers);
  const expectKept = async (path: string, body: Record<string, unknown>) => {
    const created = await create(path, body);
    expect(created.status).toBe(201);
    expect(created.body.data).toMatchObject(body);
    const read = await client.get<{ data: object }>(`${path}/${String(created.body.data['id'])}`);
    expect(read.body.data).toEqual(created.body.data);
  };

  describe('texts', () => {
    it.each([
      ['/personalities', {}, 'name', 255],
      ['/personalities', { name: 'x' }, 'accent', 255],
      ['/personalities', { name: 'x' }, 'prompt', 100_000],
      ['/agents', AGENT, 'assistantId', 255],
      ['/agents', AGENT, 'apiKey', 4_096],
      ['/agents', AGENT, 'webhookSecret', 4_096],
      ['/agents', AGENT, 'prompt', 100_000],
    ])(
      'POST %s %j accepts %s of %i characters outside the BMP and rejects one more',
      async (path, base, name, limit) => {
        await expectKept(path, { ...base, [name]: EMOJI.repeat(limit) });
        expectRejected(
          await create(path, { ...base, [name]: EMOJI.repeat(limit + 1) }),
          `${name} must have at most ${limit} characters`,
        );
      },
    );

    it.each([
      ['composed and decomposed letters', '\u00e9 e\u0301 \u212b \u00c5'],
      ['a byte order mark and non-characters', '\ufeff\ufffe\uffff\u{10ffff}'],
      ['control characters', '\u0001\u0008\u001b\u007f\u0085\u2028\u2029\r\n\t'],
      ['direction marks and joiners', '\u202e\u2066\u200d\u200b'],
      ['surrounding blanks', '  x \t'],
      ['SQL, HTML and format syntax', `'";--\\%_\${x}{{x}}<b>&amp;%s$1`],
    ])('keeps %s unchanged', async (_what, text) => {
      await expectKept('/personalities', { name: text, prompt: text, voice_id: text });
      await expectKept('/agents', { ...AGENT, name: text, apiKey: text, webhookSecret: text, phoneNumber: text });
    });

    it.each([
      ['a\\u0000b', 'name must not contain the character U+0000'],
      ['\\ud800', 'name must not contain an unpaired surrogate'],
      ['\\udc00\\ud800', 'name must not contain an unpaired surrogate'],
    ])('rejects the text %s', async (escaped, issue) => {
      expectRejected(await create('/personalities', `{"name":"${escaped}"}`), issue);
      expectRejected(
        await create('/agents', `{"provider":"AGENT_PROVIDER_1","assistantId":"a","apiKey":"k","name":"${escaped}"}`),
        issue,
      );
    });

    it.each([
      'https://example.com/ ',
      ' https://example.com',
      'https:example.com',
      'https://example.com/\u00e9',
      'ht\ntps://example.com',
    ])('rejects the address %j, which is not a URI', async (webhookUrl) => {
      expectRejected(
        await create('/agents', { ...AGENT, webhookUrl }),
        'webhookUrl must be an absolute http or https address',
      );
    });

    it('accepts addresses of 2,048 characters and rejects longer ones', async () => {
      const address = `https://example.com/${'x'.repeat(2_048 - 20)}`;
      await expectKept('/agents', { ...AGENT, webhookUrl: address });
      expectRejected(
        await create('/agents', { ...AGENT, webhookUrl: `${address}x` }),
        'webhookUrl must have at most 2048 characters',
      );
    });
  });

  describe('numbers', () => {
    it.each(['0', '-0', '5e-324', '1e-400', '2', '1.9999999999999998', '0.1', '2.2250738585072011e-308', '20e-1'])(
      'keeps the number %s',
      async (number) => {
        const created = await create('/personalities', `{"name":"x","temperature":${number}}`);
        expect(created.status).toBe(201);
        const read = await client.get<{ data: { temperature: number } }>(
          `/personalities/${String(created.body.data['id'])}`,
        );
        expect(JSON.stringify(read.body.data.temperature)).toBe(JSON.stringify(Number(number)));
      },
    );

    it.each([
      ['2.0000000000000004', 'must not be greater than 2'],
      ['-5e-324', 'must not be less than 0'],
      ['1e400', 'must be a number'],
      ['-1e400', 'must be a number'],
      ['"1"', 'must be a number'],
      ['true', 'must be a number'],
      ['null', 'must be a number'],
      ['[1]', 'must be a number'],
      ['{"valueOf":1}', undefined],
    ])('rejects the number %s', async (number, fault) => {
      const issue = fault === undefined ? 'temperature.valueOf is not a known field' : `temperature ${fault}`;
      expectRejected(await create('/personalities', `{"name":"x","temperature":${number}}`), issue);
    });

    it.each(['page', 'limit'])('accepts only plain decimal digits for %s', async (name) => {
      for (const value of [
        '0',
        '-1',
        '%2B1',
        '1.0',
        '1e1',
        '0x1',
        '',
        '%201',
        '1%20',
        '%EF%BC%91',
        '%D9%A1',
        '1%00',
        '9'.repeat(400),
      ]) {
        const response = await client.get<Rejection>(`/agents?${name}=${value}`);
        expect([value, response.status, issuesOf(response).every((issue) => issue.startsWith(`${name} `))]).toEqual([
          value,
          400,
          true,
        ]);
      }
      for (const query of [`${name}=1&${name}=1`, `${name}`, `${name}=`]) {
        expect((await client.get(`/agents?${query}`)).status).toBe(400);
      }
    });

    it('accepts pages up to the last one whose offset is a safe integer', async () => {
      const last = Math.floor(Number.MAX_SAFE_INTEGER / 100) + 1;
      expect((await client.get(`/agents?limit=100&page=${last}`)).status).toBe(200);
      expect((await client.get(`/agents?limit=100&page=${last + 1}`)).status).toBe(400);
      expect((await client.get(`/agents?page=${Number.MAX_SAFE_INTEGER}`)).status).toBe(400);
      expect((await client.get(`/agents?limit=1&page=${Number.MAX_SAFE_INTEGER}`)).status).toBe(200);
    });
  });

  describe('names with a meaning in JavaScript', () => {
    const NAMES = [...Object.getOwnPropertyNames(Object.prototype), 'prototype', 'then', 'toJSON', 'length'];

    it.each(NAMES)('rejects %s as an unknown field and an unknown parameter', async (name) => {
      expectRejected(
        await create('/personalities', `{"name":"x","${name}":{"isAdmin":true}}`),
        `${name} is not a known field`,
      );
      expectRejected(await client.get<Rejection>(`/agents?${name}=1`), `${name} is not a known field`);
      expectRejected(await client.get<Rejection>(`/agents/${randomUUID()}?${name}=1`), `${name} is not a known field`);
      expect(({} as { isAdmin?: unknown }).isAdmin).toBeUndefined();
    });

    it('reports all violations with their paths, up to a hundred', async () => {
      const response = await create('/personalities', { name: '', temperature: 3, a: 1, '': 2, b: 3 });
      expect(issuesOf(response).sort()).toEqual([
        '"" is not a known field',
        'a is not a known field',
        'b is not a known field',
        'name must not be empty',
        'temperature must not be greater than 2',
      ]);
      const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`field${i}`, i]));
      const issues = issuesOf(await create('/personalities', many));
      expect(issues).toHaveLength(100);
      expect(issues.at(-1)).toBe('body has 4902 further violations');
    });
  });

  describe('bodies', () => {
    it.each([
      ['invalid UTF-8', Buffer.from('{"name":"\xff"}', 'latin1'), 'body must be encoded in UTF-8'],
      ['an overlong encoding', Buffer.from('{"name":"\xc0\xaf"}', 'latin1'), 'body must be encoded in UTF-8'],
      ['UTF-16', Buffer.from('{"name":"x"}', 'utf16le'), 'body must be valid JSON'],
      ['an array', Buffer.from('[]'), 'body must be a JSON object'],
      ['null', Buffer.from('null'), 'body must be a JSON object'],
      ['nothing', Buffer.alloc(0), 'body must be a JSON object'],
      ['half an object', Buffer.from('{"name":'), 'body must be valid JSON'],
      [
        'nesting of 33 levels',
        Buffer.from(`{"name":${'['.repeat(32)}${']'.repeat(32)}}`),
        `name${'[0]'.repeat(31)} must not be nested deeper than 32 levels`,
      ],
      ['10,001 values', Buffer.from(`{"name":[${'0,'.repeat(9_999)}0]}`), 'body must hold at most 10000 values'],
    ])('rejects a body with %s', async (_what, bytes, issue) => {
      expectRejected(await client.send<Rejection>('POST', '/personalities', bytes), issue);
    });

    it('rejects 100,000 levels of nesting without a stack overflow', async () => {
      for (const [open, close] of [
        ['[', ']'],
        ['{"a":', '}'],
      ] as const) {
        const nested = `{"name":${open.repeat(100_000)}0${close.repeat(100_000)}}`;
        expect((await create('/personalities', nested)).status).toBe(400);
      }
    });

    it('accepts a byte order mark, and uses the last of duplicate members, as JSON.parse does', async () => {
      const created = await create('/personalities', '\ufeff{"name":"first","name":"last"}');
      expect([created.status, created.body.data['name']]).toEqual([201, 'last']);
    });

    it.each(['application/json; charset=utf-16', 'application/json; charset=utf-7', 'text/json', 'application/json5'])(
      'rejects the media type %s',
      async (type) => {
        expect((await create('/personalities', '{"name":"x"}', { 'Content-Type': type })).status).toBe(415);
      },
    );

    it.each([
      'application/json; charset=utf-8',
      'application/json; charset="UTF-8"',
      'APPLICATION/JSON;charset=utf8;x=y',
    ])('accepts the media type %s', async (type) => {
      expect((await create('/personalities', '{"name":"x"}', { 'Content-Type': type })).status).toBe(201);
    });
  });

  describe('identifiers', () => {
    it('accepts a UUID in any letter case, but in no other form', async () => {
      const id = String((await create('/agents', AGENT)).body.data['id']);
      expect((await client.get(`/agents/${id.toUpperCase()}`)).status).toBe(200);
      expect((await client.get(`/agents/${id.toUpperCase()}/runs`)).status).toBe(200);
      const bare = id.replaceAll('-', '');
      for (const other of [
        `{${id}}`,
        bare,
        `urn:uuid:${id}`,
        `${id} `,
        `${id}%00`,
        `${id}%0A`,
        ` ${id}`,
        `${id}%2F`,
        `${id}.json`,
      ]) {
        const path = `/agents/${other.replaceAll(' ', '%20')}`;
        const response = await client.get(path);
        expect([path, response.status, response.body]).toEqual([
          path,
          404,
          { code: 'NOT_FOUND', message: 'Not found' },
        ]);
      }
    });

    it.each(['/agents', '/personalities'])(
      'POST %s accepts as workspaceId only that of the caller and null',
      async (path) => {
        const base = { ...(path === '/agents' ? AGENT : { name: 'x' }) };
        for (const accepted of [workspaceId, workspaceId.toUpperCase(), null]) {
          const created = await create(path, { ...base, workspaceId: accepted });
          expect([accepted, created.status, created.body.data['workspaceId']]).toEqual([accepted, 201, workspaceId]);
        }
        for (const other of [randomUUID(), '', 'x', `${workspaceId} `, `{${workspaceId}}`, '__proto__']) {
          expect([other, (await create(path, { ...base, workspaceId: other })).status]).toEqual([other, 403]);
        }
        for (const wrong of [0, true, [workspaceId], { id: workspaceId }]) {
          expectRejected(await create(path, { ...base, workspaceId: wrong }), 'workspaceId must be a string');
        }
      },
    );
  });
});
