import { execFile, execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CORE_SCHEMA, load } from 'js-yaml';
import { type ReferenceAgentServer, startReferenceAgent } from '../simulators/agent/server.js';
import { type Asked, stubModel, verdict } from '../simulators/model/llm-stub.js';
import { TestServers } from '../simulators/servers.js';
import { sentinels } from '../../libs/statistics/testing/sample.js';
import { ListeningProcess } from '../support/listening-process.js';
import { inBackground, trunkSettings } from '../support/guide-agents.js';
import { programArguments } from '../support/program.js';
import { havePrograms } from '../support/programs.js';
import { freePort } from '../support/redis.js';
import { callEnv, executeRun, prepareAgent } from '../support/run-app.js';
import { createTestApp, TEST_KEY, type TestApp } from '../support/test-app.js';
import { startVoiceAgent, type VoiceAgentServer } from '../support/voice-agent.js';

const ROOT = path.resolve(__dirname, '../..');
const DOCUMENTS = [
  'README.md',
  'docs/production.md',
  ...readdirSync(path.join(ROOT, 'docs/guides'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/guides/${name}`),
];

interface Block {
  readonly document: string;
  readonly language: string;
  readonly text: string;
  readonly firstLine: string;
}

const BLOCKS = DOCUMENTS.flatMap((document): Block[] =>
  [...readFileSync(path.join(ROOT, document), 'utf8').matchAll(/^( *)```(\w+)\n([^]*?)^ *```$/gm)].map(
    ([, indent = '', language = '', content = '']) => {
      const text = content.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
      return { document, language, text, firstLine: text.slice(0, text.indexOf('\n')) };
    },
  ),
);
const isShell = ({ language }: Block) => language === 'sh' || language === 'bash';

const STARTS_SERVICE = 'starts the service, which runs here already';
const FOREIGN_SERVER = 'installs a server of others, as the guide says';
const PRODUCTION_CHECK = 'npm run production:check executes it';
const CONTAINERS = 'needs a container engine; npm run production:check executes the steps of both files';

/** Blocks of commands that are not executed, by the beginning of their first line, and why. */
const NOT_EXECUTED: Readonly<Record<string, string>> = {
  'README.md: npm ci': 'installs the project; .ci/run executes the tests and the demo',
  'README.md: npm start': STARTS_SERVICE,
  'docs/guides/first-test.md: npm ci': STARTS_SERVICE,
  'docs/guides/first-call.md: npm ci': STARTS_SERVICE,
  'docs/guides/first-call.md: npm run reference-agent': 'both reference agents run here already',
  'docs/guides/runs.md: npm ci': 'starts the reference agent, which runs here already',
  'docs/guides/runs.md: vat rejudge "$RUN_ID"': 'needs a language model; test/e2e/rejudged-runs.test.ts calls it',
  'docs/guides/runs.md: AGENT_PROVIDER_1_URL=': STARTS_SERVICE,
  'docs/guides/agents.md: AGENT_PROVIDER_1_URL=': STARTS_SERVICE,
  'docs/guides/connections.md: AGENT_PROVIDER_1_URL=': STARTS_SERVICE,
  'docs/guides/models.md: LLM_BASE_URL=': STARTS_SERVICE,
  'docs/guides/voices.md: TTS_BASE_URL=': STARTS_SERVICE,
  'docs/guides/voices.md: docker run': FOREIGN_SERVER,
  'docs/guides/voices.md: curl "$TTS_BASE_URL': FOREIGN_SERVER,
  'docs/guides/transcription.md: STT_BASE_URL=': STARTS_SERVICE,
  'docs/guides/transcription.md: vat run --agent "$AGENT_ID" --suite suite.yaml':
    'needs a voice agent of the reader; test/e2e/run-voice-start.test.ts refuses such runs',
  'docs/guides/transcription.md: TEXT_AGENT_ID=': 'needs two agents of the reader; comparison.md compares two runs',
  'docs/guides/transcription.md: npm run reference-agent': 'both run here already, with fewer lines of the caller',
  'docs/guides/transcription.md: docker run': FOREIGN_SERVER,
  'docs/guides/transcription.md: git clone': FOREIGN_SERVER,
  'docs/guides/agents.md: npm run reference-agent -- --list-faults':
    'test/simulators/agent/program.spec.ts tests the options',
  'docs/guides/agents.md: npm run reference-agent -- --fault':
    'test/simulators/agent/program.spec.ts tests the options',
  'docs/guides/agents.md: npm run reference-agent -- --as': 'test/simulators/agent/program.spec.ts tests the options',
  'docs/guides/outbound.md: sudo apt-get': 'installs what .ci/run installs',
  "docs/guides/outbound.md: echo '[": STARTS_SERVICE,
  'docs/guides/pipecat.md: npm run reference-agent': 'such an agent runs here already',
  'docs/guides/realtime.md: npm run reference-agent': 'test/realtime/openai-realtime.test.ts calls it',
  'docs/guides/elevenlabs.md: VAT_PROVIDER_KEY_FILE=':
    'needs an account; test/e2e/assistants.test.ts imports that of the double',
  'docs/guides/elevenlabs.md: npm run reference-agent': 'test/realtime/elevenlabs.test.ts calls it',
  'docs/guides/vapi.md: VAT_PROVIDER_KEY_FILE=':
    'needs an account; dial.spec.ts of the wire lists the assistants of the double',
  'docs/guides/retell.md: VAT_PROVIDER_KEY_FILE=':
    'needs an account; test/e2e/assistants.test.ts imports that of the double',
  'docs/guides/vapi.md: npm run reference-agent': 'test/realtime/vapi.test.ts calls it',
  'docs/guides/retell.md: npm run reference-agent': 'test/simulators/retell/accuracy.spec.ts calls it',
  'docs/guides/production-calls.md: export VAT_PROVIDER_KEY=...': 'needs an account; the next blocks have a double',
  'docs/guides/production-calls.md: npm run reference-agent': 'such an agent runs here already',
  'docs/guides/alarms.md: curl': 'needs an alarm; test/e2e/alarms.test.ts lists and accepts one',
  'docs/guides/ci.md: curl -sSfo client.tgz': 'publishes to a private registry',
  'docs/guides/recordings.md: curl':
    'the call here is a text call; test/realtime/voice-calls.test.ts downloads both files',
  'docs/production.md: npm ci && npm run build': PRODUCTION_CHECK,
  'docs/production.md: docker build': CONTAINERS,
  "docs/production.md: printf 'POSTGRES_PASSWORD": CONTAINERS,
  'docs/production.md: cp --archive': PRODUCTION_CHECK,
  'docs/production.md: pg_dump': PRODUCTION_CHECK,
  'docs/production.md: pg_restore': PRODUCTION_CHECK,
};

/** JSON blocks that are not bodies of requests to the service, by the beginning of their document and text. */
const NOT_BODIES: Readonly<Record<string, string>> = {
  'docs/guides/agents.md: {': 'a request that the service sends; libs/simulation/transports tests it',
  'docs/guides/outbound.md: [': 'the file of SIP_ACCOUNTS; sip-accounts.spec.ts reads such files',
  'docs/guides/production-calls.md: [':
    'a file of `vat call import`; test/e2e/call-import-reported.test.ts sends such calls',
  'docs/guides/schedules.md: {': 'a part of a response; test/e2e/alarms.test.ts causes such an alarm',
  'docs/guides/models.md: {': 'an answer of a language model; libs/simulation tests what is accepted',
};

/** Documents whose YAML and CSV are validated, imported or executed by specs of their own. */
const TESTED_FILES = [
  ...['checks', 'evaluations', 'expectations', 'production-calls', 'suites', 'variables'].map(
    (name) => `docs/guides/${name}.md`,
  ),
  'docs/production.md',
  'README.md',
];

/** Exit codes of the `vat` commands of a document but `vat agent`, in order; all 0 without an entry. The agents of these documents have a fault. */
const EXIT_CODES: Readonly<Record<string, readonly number[]>> = {
  // The connection test passes; the suite fails, and passes after the correction.
  'docs/guides/first-test.md': [0, 1, 0, 0, 0],
  // The connection test passes; the slow answer fails; the healthy agent passes. So do the wrong words, and the right ones.
  'docs/guides/first-call.md': [0, 1, 0, 1, 0],
  // The connection test passes; the wrong words fail, and the right ones pass.
  'docs/guides/realtime.md': [0, 1, 0],
  'docs/guides/pipecat.md': [0, 1, 0],
  // The connection test passes; the slow recording fails, and the quick one passes.
  'docs/guides/sip.md': [0, 1, 0],
  // Long silences fail, and short ones pass.
  'docs/guides/outbound.md': [1, 0],
  // The suite passes over text and over Twilio; the wrong words fail.
  'docs/guides/transcription.md': [0, 0, 1],
  // The import passes; the score of the faulty agent is too low.
  'docs/guides/runs.md': [0, 1],
  // The failed call of the test that was made of a call is provisional, so the first run has no result.
  'docs/guides/production-calls.md': [0, 0, 0, 0, 0, 2, 1],
  // The score of 91.7 is below the minimum of the command; without it or with a low one, the command would exit with 0.
  'docs/guides/ci.md': [1],
  // The other runs have the same results; the gate of the last command is not met by the faulty agent.
  'docs/guides/comparison.md': [0, 0, 1],
  // The name of the example's agent does not exist.
  'docs/guides/connections.md': [2],
};

const isFirst = (document: string) => document === 'docs/guides/first-test.md';
const nameOf = ({ document, firstLine }: Block) => `${document}: ${firstLine}`;
const reasonFor = (block: Block, reasons: Readonly<Record<string, string>>) =>
  Object.keys(reasons).find((beginning) => nameOf(block).startsWith(beginning));
const OUTBOUND = 'docs/guides/outbound.md';
const IMPOSSIBLE = [
  ...(havePrograms('baresip', 'docs/guides/sip.md') ? [] : ['docs/guides/sip.md']),
  ...(havePrograms(['baresip', 'kamailio'], OUTBOUND) ? [] : [OUTBOUND]),
];
const executed = BLOCKS.filter(
  (block) => isShell(block) && reasonFor(block, NOT_EXECUTED) === undefined && !IMPOSSIBLE.includes(block.document),
);

/** Fails on the first error response or unexpected exit code, also within a pipe. */
const PREAMBLE = `
set -eo pipefail
curl() { command curl --fail-with-body --max-time 90 "$@" || { touch curl-failed; return 22; }; }
checked() {
  local code=0
  command "$@" || code=$?
  local expected=\${EXIT_CODES%% *}
  EXIT_CODES=\${EXIT_CODES#* }
  if [ "$code" != "\${expected:-0}" ]; then echo "vat exited with $code instead of \${expected:-0}" >&2; exit 99; fi
}
npx() { checked npx "$@"; }
node() { case "$1 $2" in */vat.mjs' agent') command node "$@" ;; */vat.mjs*) checked node "$@" ;; *) command node "$@" ;; esac; }
npm() {
  [ "$1 $2 $3 $4" = 'run --silent admin --' ] || { echo "Unexpected: npm $*" >&2; return 96; }
  (cd "$ROOT" && shift 4 && exec node $ADMIN "$@")
}
vat() { node "$CLIENT/package/vat.mjs" "$@"; }
get() { curl -sS "$VAT_URL$1" -H "Authorization: Bearer $VAT_API_KEY"; }
send() { curl -sS -X "$1" "$VAT_URL$2" -H "Authorization: Bearer $VAT_API_KEY" -H 'Content-Type: application/json' -d "$3"; }
post() { curl -sS -X POST "$VAT_URL$1" -H "Authorization: Bearer $VAT_API_KEY" -H 'Content-Type: application/json' -d "$2"; }
trap 'kill $(jobs -p) 2> /dev/null || true' EXIT
`;

const ENCRYPTION_KEY = `${TEST_KEY.id}:${TEST_KEY.key.toString('base64')}`;

/** `set -e` does not notice a request that fails in the list of a loop. */
const CONCLUSION = `
[ ! -e curl-failed ] || { echo 'A request failed' >&2; exit 98; }
[ -z "\${EXIT_CODES// }" ] || { echo "No command for the exit codes $EXIT_CODES" >&2; exit 97; }
`;

const CALLER_LINES = ['Until when are you open?', 'Thank you, goodbye.'] as const;

/** A model that plays the caller of realtime.md as its scenario says. */
const modelAnswer = (asked: Asked) =>
  asked.role === 'judge'
    ? verdict(asked, true)
    : asked.messages.length === 2
      ? { say: CALLER_LINES[0], end: null }
      : { say: CALLER_LINES[1], end: 'The caller knows the opening hours.' };

// access.md starts the admin command six times.
jest.setTimeout(180_000);

describe('the commands of README.md, docs/production.md and the guides', () => {
  let agent: VoiceAgentServer;
  let realtimeAgent: VoiceAgentServer;
  let pipecatAgent: VoiceAgentServer;
  let retellAgent: ReferenceAgentServer;
  let transcription: ListeningProcess;
  const servers = new TestServers();
  let app: TestApp;
  let folder: string;
  let trunkPort: number;

  beforeAll(async () => {
    execFileSync(process.execPath, [path.join(ROOT, 'scripts/build-client.mjs')], { cwd: ROOT });
    const lines = [...CALLER_LINES];
    agent = await startVoiceAgent({ fault: 'wrong-fact', slowMs: 3_000, lines });
    realtimeAgent = await startVoiceAgent({ as: 'realtime', faults: ['wrong-fact'], lines });
    pipecatAgent = await startVoiceAgent({ as: 'pipecat', faults: ['wrong-fact'], lines });
    retellAgent = await startReferenceAgent({ port: 0, fault: 'skips-tool', retell: { callsEveryMs: 5_000 } });
    const listening = { lines, faults: ['wrong-fact'] as const, today: Date.now(), behaviour: {} };
    transcription = await ListeningProcess.start(listening);
    const stt = { STT_BASE_URL: transcription.url, STT_MODEL: 'reference-agent' };
    const model = { LLM_BASE_URL: (await stubModel(servers, modelAnswer)).url, LLM_MODEL: 'stub', ...stt };
    folder = await mkdtemp(path.join(tmpdir(), 'guide-commands-'));
    trunkPort = await freePort();
    const trunk = trunkSettings(path.join(ROOT, OUTBOUND), trunkPort, folder);
    app = await createTestApp({ env: { ...callEnv(`${agent.url}/v1/chat/completions`), ...model, ...trunk } });
    execFileSync('tar', ['-xzf', path.join(ROOT, 'dist/client.tgz'), '-C', folder]);
  });
  afterAll(async () => {
    const all = [app, agent, realtimeAgent, pipecatAgent, retellAgent, servers];
    await Promise.all([...all.map((one) => one.close()), transcription.stop()]);
    await rm(folder, { recursive: true });
  });

  it('are executed, or have a reason why not', () => {
    for (const reasons of [NOT_EXECUTED, NOT_BODIES]) {
      const used = new Set(BLOCKS.map((block) => reasonFor(block, reasons)));
      expect(Object.keys(reasons).filter((beginning) => !used.has(beginning))).toEqual([]);
    }
    expect(executed.length).toBeGreaterThanOrEqual(20);
    const files = BLOCKS.filter(({ language }) => language === 'yaml' || language === 'csv');
    expect(files.map(({ document }) => document).filter((document) => !TESTED_FILES.includes(document))).toEqual([]);
    const others = BLOCKS.filter((block) => !isShell(block) && !files.includes(block));
    expect(others.map(({ language }) => language).filter((language) => !/^(json|text|js)$/.test(language))).toEqual([]);
  });

  it('test what the README shows: its suite is that of the first test', () => {
    const suite = BLOCKS.find(({ document, language }) => document === 'README.md' && language === 'yaml')!.text;
    const guide = BLOCKS.filter(({ document }) => document === 'docs/guides/first-test.md').map(({ text }) => text);
    const lines = (text: string) => text.split('\n').filter((line) => line !== '');
    expect(lines(guide.join('\n')).join('\n')).toContain(lines(suite).join('\n'));
  });

  it('have suites of their own: no two documents write the same file, evaluation or personality', () => {
    const examples = readdirSync(path.join(ROOT, 'docs/examples')).filter((name) => name.endsWith('.yaml'));
    const suites = [
      ...BLOCKS.flatMap(({ document, language, text }) =>
        language === 'yaml'
          ? [{ document, file: document, text }]
          : [...text.matchAll(/^cat > (\S+) <<'SUITE'\n([^]*?)\nSUITE$/gm)].map(([, file = '', suite = '']) => ({
              ...{ document, file, text: suite },
            })),
      ),
      ...examples.map((file) => ({
        ...{ document: 'docs/examples', file, text: readFileSync(path.join(ROOT, 'docs/examples', file), 'utf8') },
      })),
    ];
    /** Documents by what they write, each with the text of it. */
    const writers = new Map<string, Map<string, string>>();
    const add = (name: string, document: string, content: unknown) =>
      writers.set(name, (writers.get(name) ?? new Map<string, string>()).set(JSON.stringify(content), document));
    for (const { document, file, text } of suites) {
      const parsed = load(text, { schema: CORE_SCHEMA }) as any;
      if (Array.isArray(parsed?.personalities) || Array.isArray(parsed?.evaluations))
        add(`file ${file}`, document, document);
      for (const { name, ...rest } of parsed?.personalities ?? []) add(`personality ${name}`, document, rest);
      const evaluations = Array.isArray(parsed) ? parsed : (parsed?.evaluations ?? []);
      for (const { key, ...rest } of evaluations) if (key !== undefined) add(`evaluation ${key}`, document, rest);
    }
    expect(writers.size).toBeGreaterThan(20);
    const shared = [...writers].flatMap(([name, of]) => {
      const documents = [...new Set(of.values())];
      return of.size > 1 && documents.length > 1 ? [`${name}: ${documents.join(', ')}`] : [];
    });
    expect(shared).toEqual([]);
  });

  /** An agent with a passed run, a failed one, a failed call of it and their ids: what documents take over from others. */
  async function setUp() {
    const { apiKey, workspaceId, agentId, client } = await prepareAgent(app, ['books-a-table', 'house-facts']);
    const other = await executeRun(client, agentId, { minimumScore: 0 });
    const earlier = await executeRun(client, agentId, { minimumScore: 0 });
    const run = await executeRun(client, agentId);
    const [call] = (await client.get<any>(`/runs/${run.id}/calls?outcome=failed`)).body.data;
    const { id: keyId } = (await client.post<any>('/workspace/api-keys', { name: 'To be revoked' })).body.data;
    const runs = { runId: run.id, earlierRunId: earlier.id, otherRunId: other.id };
    const [evaluation] = (await client.get<any>(`/agents/${agentId}/evaluations`)).body.data;
    return { apiKey, workspaceId, agentId, ...runs, callId: call.id, keyId, evaluationId: evaluation.id };
  }

  it.each(sentinels([...new Set(executed.map(({ document }) => document))], isFirst))(
    'can be executed in order: %s',
    async (document) => {
      const { apiKey, ...ids } = await setUp();
      // Their agents are reference agents; those of other documents are their own.
      const url = {
        'docs/guides/first-call.md': agent.url,
        'docs/guides/realtime.md': realtimeAgent.url,
        'docs/guides/transcription.md': agent.url,
        'docs/guides/production-calls.md': retellAgent.url,
      }[document];
      const port = url ? new URL(url).port : await freePort();
      const ports: Readonly<Record<string, unknown>> = {
        ...{ 4010: port, 4011: new URL(realtimeAgent.url).port, 4014: new URL(pipecatAgent.url).port },
        ...{ 4090: await freePort(), 5070: trunkPort, 5080: await freePort() },
      };
      const blocks = executed.filter((block) => block.document === document);
      const commands = inBackground(blocks.map(({ text }) => text).join('\n'))
        // At once, and before ids and addresses are inserted, which may contain these digits.
        .replaceAll(/4010|4011|4014|4090|5070|5080/g, (used) => String(ports[used]))
        .replaceAll(/http:\/\/localhost:3000|https:\/\/vat\.example\.com/g, app.url)
        .replaceAll('vat_…', apiKey)
        .replaceAll('9b2f1c5e-7d4a-4c1b-8f3e-2a6d5b4c3f10', ids.agentId)
        .replaceAll('KEY_ID', ids.keyId)
        .replaceAll(/(?<=--workspace |set-plan )ID\b/g, ids.workspaceId);
      const work = await mkdtemp(path.join(folder, 'work-'));
      for (const name of ['suite.yaml', 'restaurant.yaml']) {
        execFileSync('cp', [path.join(ROOT, 'docs/examples/restaurant.yaml'), path.join(work, name)]);
      }
      const env = {
        ...{ PATH: process.env['PATH'], HOME: work, TMPDIR: work, npm_config_registry: 'http://127.0.0.1:1/' },
        ...{ VAT_URL: app.url, VAT_API_KEY: apiKey, AGENT_ID: ids.agentId },
        ...{ RUN_ID: ids.runId, EARLIER_RUN_ID: ids.earlierRunId, OTHER_RUN_ID: ids.otherRunId },
        ...{ CALL_ID: ids.callId, EVALUATION_ID: ids.evaluationId },
        ...{ ROOT, CLIENT: folder, ADMIN: programArguments('src/admin/main.ts').join(' ') },
        ...{ DATABASE_URL: app.databaseUrl, DATA_DIR: work, ENCRYPTION_KEYS: ENCRYPTION_KEY, AGENT_PID: '' },
        EXIT_CODES: `${(EXIT_CODES[document] ?? []).join(' ')} `,
      };
      const words = ['--noprofile', '--norc', '-c', `${PREAMBLE}${commands}${CONCLUSION}`];
      const { code, output } = await new Promise<{ code: unknown; output: string }>((resolve) => {
        execFile('bash', words, { cwd: work, env }, (error, stdout, stderr) => {
          resolve({ code: error?.code ?? 0, output: stdout + stderr });
        });
      });
      // The output of a failure says which command failed.
      expect(code === 0 ? 'exit code 0' : `exit code ${String(code)}:\n${output}`).toBe('exit code 0');
    },
  );

  it('has the same minimum in the command of ci.md and in the output below it', () => {
    const text = readFileSync(path.join(ROOT, 'docs/guides/ci.md'), 'utf8');
    const valueOf = (pattern: RegExp) => pattern.exec(text)?.[1];
    const minimum = valueOf(/--min-score (\d+)/);
    expect([valueOf(/score [\d.]+ of at least (\d+)\./), valueOf(/below the minimum of (\d+)\./)]).toEqual([
      minimum,
      minimum,
    ]);
  });

  const bodies = BLOCKS.filter((block) => block.language === 'json' && reasonFor(block, NOT_BODIES) === undefined);

  it('has JSON bodies only in the guides to connections', () => {
    expect(new Set(bodies.map(({ document }) => document))).toEqual(
      new Set(
        ['connections', 'elevenlabs', 'pipecat', 'realtime', 'retell', 'sip', 'twilio', 'vapi'].map(
          (name) => `docs/guides/${name}.md`,
        ),
      ),
    );
  });

  it.each(bodies.map(({ text }) => text.trim()))('has a body that the service accepts: %s', async (text) => {
    const { client, agentId } = await prepareAgent(app, []);
    const connection = `/agents/${agentId}/connection`;
    const stored = {
      url: 'https://agent.example.com/',
      headers: { Authorization: 'Bearer agent-token-1', 'X-Tenant': 'a' },
    };
    expect(await client.put(connection, stored)).toMatchObject({ status: 200 });
    const body = JSON.parse(text);
    // Secrets are never returned.
    const shown = {
      ...body,
      ...(body.options?.authToken && { options: { ...body.options, authToken: null } }),
      ...(body.headers?.['api-key'] && { headers: { ...body.headers, 'api-key': null } }),
    };
    expect(await client.put(connection, body)).toMatchObject({ status: 200, body: { data: shown } });
  });
});
