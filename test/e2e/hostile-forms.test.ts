import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { agentBody } from '../factories/bodies.js';
import { type FormTarget, sendForm } from '../support/forms/sent-form.js';
import { HttpClient } from '../support/http.js';
import { ServiceProcess } from '../support/service-process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const KEY = `hostile-forms-${randomUUID()}`;
const KIB = 1024;

let dataDir: string;
let database: TestDatabase;
let service: ServiceProcess;
let target: FormTarget;

beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'hostile-forms-'));
  database = await createTestDatabase();
  service = await ServiceProcess.start({
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    BOOTSTRAP_API_KEY: KEY,
    DEFAULT_PLAN: 'FREE',
    PLAN_FREE_REQUESTS_PER_MINUTE: '1000000',
  });
  await service.waitForOutput('Process worker \\(\\d+\\) is ready');
  const client = new HttpClient(service.url, KEY);
  const agentId: string = (await client.post('/agents', agentBody())).body.data.id;
  target = { url: service.url, path: `/agents/${agentId}/calls/import`, key: KEY };
}, 120_000);
afterAll(async () => {
  await service?.dispose();
  await database?.drop();
  await rm(dataDir, { recursive: true, force: true });
});

/** What a form could end or leave behind. */
const state = () => ({
  exit: service.exit,
  children: service.children,
  files: readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length,
});

const part = (headers: string, content = '') => `--x\r\n${headers}\r\n\r\n${content}\r\n`;
const file = (name: string, bytes: number) =>
  part(`Content-Disposition: form-data; name="${name}"; filename="a"`, 'a'.repeat(bytes));

describe('a form that the service cannot take', () => {
  it.each<[string, readonly string[], RegExp]>([
    ['two malformed headers', ['--x\r\n(\r\n--x\r\n(\r\n--x--'], /^body has a malformed header in part 1$/],
    [
      'a part without name',
      [`${part('Content-Disposition: form-data', 'a')}--x--`],
      /^part 1 of body must have a name$/,
    ],
    [
      'a part with an empty name',
      [`${part('Content-Disposition: form-data; name=""')}--x--`],
      /^part 1 of body must have a name$/,
    ],
    [
      'a file without name',
      [`${part('Content-Disposition: form-data; filename="a"')}--x--`],
      /^part 1 of body must have a name$/,
    ],
    ['a file of another name', [`${file('a', 100 * KIB)}--x--`], /^a is not known; the file is recording$/],
    ['a file of another name in two writes', [file('a', 100), '--x--'], /^a is not known; the file is recording$/],
    ['a file of another name without the last boundary', [file('a', 1)], /^a is not known; the file is recording$/],
    [
      'a second recording',
      [`${file('recording', 9)}${file('recording', 100 * KIB)}--x--`],
      /^recording must be given once$/,
    ],
    [
      'a transcript as a file',
      [`${file('transcript', 324 * KIB)}--x--`],
      /^transcript must be a text: its part must have no filename/,
    ],
    ['no last boundary', [file('recording', 9)], /^body is not a complete multipart\/form-data document$/],
    [
      'too many parts',
      [`${part('Content-Disposition: form-data; name="channels"').repeat(9)}--x--`],
      /^channels must be given once$/,
    ],
  ])('is refused with the cause if it has %s', async (_name, texts, issue) => {
    const before = state();
    const writes = texts.map((text) => Buffer.from(text));
    const length = writes.reduce((sum, bytes) => sum + bytes.length, 0);
    const sent = await sendForm(target, { name: _name, writes, length, boundary: 'x' });
    expect(sent?.response?.status).toBe(400);
    const { issues } = JSON.parse(sent!.response!.text) as { issues: { message: string }[] };
    expect(issues.map(({ message }) => message)).toEqual([expect.stringMatching(issue)]);
    expect(sent?.next).toBe(200);
    expect(state()).toEqual(before);
  });
});
