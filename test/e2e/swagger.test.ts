import { HttpClient } from '../support/http.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

describe('the Swagger page over HTTP', () => {
  let app: TestApp;
  let client: HttpClient;
  beforeAll(async () => {
    app = await createTestApp();
    client = new HttpClient(app.url);
  });
  afterAll(() => app.close());

  it('is HTML without inline script, with a policy that blocks external content', async () => {
    const { status, headers, body } = await client.get<string>('/docs');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toMatch(/https?:|\*|unsafe-/);
    expect(body).not.toMatch(/<script(?![^>]*\bsrc=)/);
    expect(body).not.toMatch(/(src|href)="(https?:)?\/\//);
  });

  it('has cacheable assets whose addresses change with their content', async () => {
    const { body } = await client.get<string>('/docs');
    const assets = [...body.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, address]) => address ?? '');
    expect(assets.map((address) => address.split('?')[0])).toEqual([
      'docs/swagger-ui.css',
      'docs/page.css',
      'docs/swagger-ui-bundle.js',
      'docs/start.js',
    ]);
    for (const address of assets) {
      const { status, headers } = await client.get(`/${address}`);
      expect(status).toBe(200);
      expect(headers.get('content-type')).toMatch(/^text\/(css|javascript); charset=utf-8$/);
      expect(headers.get('cache-control')).toBe('private, max-age=31536000, immutable');
      expect(headers.has('x-ratelimit-remaining')).toBe(true);
      expect(address).toMatch(/\?v=[0-9a-f]{16}$/);
    }
  });

  it('redirects / to docs for GET and HEAD, and returns 404 for other methods', async () => {
    const response = await fetch(`${app.url}/`, { redirect: 'manual' });
    expect({ status: response.status, location: response.headers.get('location') }).toEqual({
      status: 302,
      location: 'docs',
    });
    expect(response.headers.has('x-ratelimit-remaining')).toBe(true);
    expect((await fetch(app.url, { method: 'HEAD', redirect: 'manual' })).status).toBe(302);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status } = await fetch(app.url, { method });
      expect({ method, status }).toEqual({ method, status: 404 });
    }
  });

  it('redirects /docs/ to /docs', async () => {
    const { status, headers } = await client.get('/docs/');
    expect(status).toBe(308);
    expect(new URL(headers.get('location') ?? '', `${app.url}/docs/`).pathname).toBe('/docs');
    expect(headers.has('x-ratelimit-remaining')).toBe(true);
  });

  it.each([
    'index.html',
    'package.json',
    'swagger-ui.css.map',
    'swagger-initializer.js',
    '..%2fpackage.json',
    '%2e%2e%2f%2e%2e%2fpackage.json',
    '..%5cpackage.json',
    'swagger-ui.css%00.png',
    'constructor',
    '__proto__',
  ])('returns 404 for /docs/%s', async (name) => {
    const { status, body } = await client.get(`/docs/${name}`);
    expect(status).toBe(404);
    expect(body).toEqual({ code: 'NOT_FOUND', message: 'Not found' });
  });
});
