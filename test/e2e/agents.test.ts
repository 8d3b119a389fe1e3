import { HttpClient } from '../support/http.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

describe('agents over HTTP', () => {
  let app: TestApp;
  let client: HttpClient;

  beforeAll(async () => {
    app = await createTestApp();
    client = new HttpClient(app.url, (await app.createWorkspace()).apiKey);
  });
  afterAll(() => app.close());

  it('lists nothing in a new workspace', async () => {
    const { status, body } = await client.get('/agents');
    expect(status).toBe(200);
    expect(body).toEqual({ meta: { total: 0, page: 1, limit: 25, pageCount: 0 }, data: [] });
  });
});
