import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { shareOf } from '../../libs/statistics/testing/sample.js';
import { agentBody, personalityBody } from '../factories/bodies.js';
import { generatedForm } from '../support/forms/generated-forms.js';
import { type FormTarget, sendForm, type SentForm } from '../support/forms/sent-form.js';
import { HttpClient } from '../support/http.js';
import { callEnv, executeRun, shortEvaluation } from '../support/run-app.js';
import { type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { ServiceProcess } from '../support/service-process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

/** For a soak: `HOSTILE_FORM_MINUTES=10 npx jest test/e2e/hostile-forms.test.ts`; HOSTILE_SEED sets other forms. */
const MINUTES = Number(process.env['HOSTILE_FORM_MINUTES'] ?? 0);
const SEED = Number(process.env['HOSTILE_SEED'] ?? 44);
const FORMS = shareOf(5_000);
/** The service lets as many imports of a workspace wait. */
const AT_ONCE = 3;
/** By how many MiB a process may have grown since its first forms; some of it is garbage of the last large ones. */
const KEPT_MIB = 150;
/** In a soak the heap first grows to what a hundred forms a second need for a minute. */
const WARM_UP = MINUTES > 0 ? 10_000 : 300;

jest.setTimeout(600_000 + MINUTES * 60_000);

const KEY = `hostile-forms-${randomUUID()}`;
const KIB = 1024;

let dataDir: string;
let database: TestDatabase;
let agent: ScriptedAgent;
let service: ServiceProcess;
let client: HttpClient;
let agentId: string;
let evaluationId: string;
let target: FormTarget;

beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'hostile-forms-'));
  database = await createTestDatabase();
  agent = await startScriptedAgent();
  service = await ServiceProcess.start({
    ...(callEnv(agent.url) as Record<string, string>),
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    BOOTSTRAP_API_KEY: KEY,
    DEFAULT_PLAN: 'FREE',
    PLAN_FREE_REQUESTS_PER_MINUTE: '1000000',
  });
  await service.waitForOutput('Process worker \\(\\d+\\) is ready');
  client = new HttpClient(service.url, KEY);
  agentId = (await client.post('/agents', agentBody())).body.data.id;
  const personalityId: string = (await client.post('/personalities', personalityBody())).body.data.id;
  const created = await client.post(`/agents/${agentId}/evaluations`, { ...shortEvaluation(), personalityId });
  evaluationId = created.body.data.id;
  target = { url: service.url, path: `/agents/${agentId}/calls/import`, key: KEY };
}, 120_000);
afterAll(async () => {
  await service?.dispose();
  await agent?.close();
  await database?.drop();
  await rm(dataDir, { recursive: true, force: true });
});

const files = () => readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
const pids = () => [service.pid, ...service.children];
const uploads = () => files().filter(({ parentPath }) => parentPath.endsWith('uploads'));
/** What a form could end or leave behind. */
const state = () => ({ exit: service.exit, pids: pids(), files: files().length });
const descriptors = () => pids().reduce((sum, pid) => sum + readdirSync(`/proc/${pid}/fd`).length, 0);
const residentMiB = () =>
  pids().map((pid) =>
    Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / KIB),
  );

const issuesOf = (text: string): string[] =>
  (JSON.parse(text) as { issues?: { message: string }[] }).issues?.map(({ message }) => message) ?? [];

const part = (headers: string, content = '') => `--x\r\n${headers}\r\n\r\n${content}\r\n`;
const named = (name: string, rest = '') => `Content-Disposition: form-data; name="${name}"${rest}`;
const file = (name: string, bytes: number) => part(named(name, '; filename="a"'), 'a'.repeat(bytes));

const NAMELESS = /^part 1 of body must have a Content-Disposition such as form-data; name="channels"$/;

describe('a form that the service cannot take', () => {
  it.each<[string, readonly string[], RegExp]>([
    ['two malformed headers', ['--x\r\n(\r\n--x\r\n(\r\n--x--'], /^body has a malformed header in part 1$/],
    [
      'a header that begins with a space, mscdex/busboy#250',
      [`${part(` ${named('channels')}`)}--x--`],
      /^body has a malformed header in part 1$/,
    ],
    ['a part without name', [`${part('Content-Disposition: form-data', 'a')}--x--`], NAMELESS],
    [
      'another parameter than name, expressjs/multer#553',
      [`${part('Content-Disposition: form-data; nam="a"', 'data')}--x-`],
      NAMELESS,
    ],
    ['an empty name', [`${part(named(''))}--x--`], NAMELESS],
    [
      'a file without name, Chocobozzz/PeerTube#4121',
      [`${part('Content-Disposition: form-data; filename="a"')}--x--`],
      NAMELESS,
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
    [
      'an empty Content-Type, mscdex/busboy#35',
      [`${part(`${named('channels')}\r\nContent-Type: `)}--x--`],
      /^channels must be one of/,
    ],
    [
      'a quote in a name, mscdex/busboy#370',
      [`${part('Content-Disposition: form-data; name="chan"nels"', 'a')}--x--`],
      NAMELESS,
    ],
    [
      'a space in its last boundary, expressjs/multer#224',
      [`${file('recording', 4)}---- x--`],
      /^body is not a complete multipart\/form-data document$/,
    ],
    ['no last boundary', [file('recording', 9)], /^body is not a complete multipart\/form-data document$/],
    ['too many parts', [`${part(named('channels')).repeat(9)}--x--`], /^channels must be given once$/],
  ])('is refused with the cause if it has %s', async (name, texts, issue) => {
    const before = state();
    const writes = texts.map((text) => Buffer.from(text));
    const length = writes.reduce((sum, bytes) => sum + bytes.length, 0);
    const { response, next } = await sendForm(target, { name, writes, length, boundary: 'x' });
    expect(response?.status).toBe(400);
    expect(issuesOf(response!.text)[0]).toMatch(issue);
    expect(next).toBe(200);
    expect(state()).toEqual(before);
  });
});

it(`lives through ${MINUTES > 0 ? `${MINUTES} minutes of` : FORMS} generated forms among runs, without a file or descriptor left`, async () => {
  const before = { state: state(), descriptors: 0 };
  const wrong: unknown[] = [];
  const statuses = new Map<number | undefined, number>();
  const startedAt = performance.now();
  let sent = 0;
  let warm: number[] = [];
  let runs = 0;
  const isOver = () => sent >= FORMS && performance.now() - startedAt >= MINUTES * 60_000;
  const attack = async () => {
    while (!isOver()) {
      const form = generatedForm(SEED, sent++, { evaluationId });
      const { response, next } = await sendForm(target, form).catch((cause: unknown) => {
        throw new Error(`${form.name} of length ${form.length}: ${String(cause)}`);
      });
      statuses.set(response?.status, (statuses.get(response?.status) ?? 0) + 1);
      // Forms whose client has left may still wait for a moment on a busy machine.
      if (response?.status === 429) continue;
      const fault = faultOf(form, response, next);
      if (fault !== undefined) wrong.push([form.name, fault, form.length, response?.status, response?.text, next]);
      if (response?.status === 202) await discard(JSON.parse(response.text).data.runId);
      if (sent === WARM_UP) warm = residentMiB();
    }
  };
  const call = async () => {
    while (!isOver()) {
      const { counts } = await executeRun(client, agentId, { repeat: 5 });
      if (counts.passed !== 5) wrong.push(['run', counts]);
      runs++;
    }
  };
  before.descriptors = await settled();
  await Promise.all([...Array.from({ length: AT_ONCE }, attack), call()]);
  const after = residentMiB();
  console.log(
    `${sent} forms, ${runs} runs: ${JSON.stringify([...statuses])}; MiB ${warm.join(' ')} before, ${after.join(' ')} after`,
  );
  expect(wrong.slice(0, 5)).toEqual([]);
  await until('nothing that was sent is left', () => uploads().length === 0, 60_000);
  await until('no descriptor is left', () => descriptors() <= before.descriptors, 60_000);
  // Runs that were deleted keep their recordings for a minute.
  if (sent >= 5_000) await until('no recording is left', () => files().length === before.state.files, 240_000);
  expect(state()).toMatchObject({ exit: undefined, pids: before.state.pids });
  const isAsBefore = async () => {
    await client.get('/agents');
    return residentMiB().every((mib, index) => mib - warm[index]! < KEPT_MIB);
  };
  await until('memory is as before', isAsBefore, 60_000);
});

/** Descriptors once the service has its connections to the database. */
async function settled(): Promise<number> {
  await Promise.all(Array.from({ length: 20 }, () => client.get('/agents')));
  await executeRun(client, agentId, { repeat: 5 });
  return descriptors();
}

const discard = async (runId: string) => {
  await client.post(`/runs/${runId}/cancel`);
  expect(await client.delete(`/runs/${runId}`)).toMatchObject({ status: 200 });
};

const SENTENCE =
  /^(body|request|part \d+|recording|channels|evaluationId|startedAt|transcript|externalId|\S.*) (must|is|has|cannot|did)\b/;

/** What is wrong about the response to a form. */
function faultOf(
  { length, writes, isAborted }: SentForm,
  response: { status: number; text: string } | undefined,
  next: number | undefined,
): string | undefined {
  const sent = writes.reduce((sum, bytes) => sum + bytes.length, 0);
  const isWhole = length === 'chunked' || length === sent;
  // Of a client that sends more or less than it states, the connection may be closed at once.
  if (!response) return isAborted || !isWhole ? undefined : 'no response';
  if (![202, 400, 413].includes(response.status)) return 'status';
  if (response.status === 202) return undefined;
  const issues = issuesOf(response.text);
  if (issues.length === 0 || issues.some((issue) => !SENTENCE.test(issue) || issue.includes('undefined')))
    return 'issues';
  return isWhole && next !== 200 && next !== undefined ? 'next' : undefined;
}
