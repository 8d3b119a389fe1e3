import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../support/redis.js';
import { executeRun, prepareEvaluations } from '../support/run-app.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const ROOT = path.resolve(__dirname, '../..');
const GUIDE = readFileSync(path.join(ROOT, 'docs/guides/tool-calls.md'), 'utf8');
const [REPORTS, EXPRESS, TWILIO] = [...GUIDE.matchAll(/```js\n([^]*?)```/g)].map(([, code]) => code!);

/** An agent on Twilio around the code of the guide: greets, and answers half a second after the caller. */
const TWILIO_AGENT = `
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { toolsOf } from './tools-of.mjs';

const connect = '<Response><Connect><Stream url="/media"/></Connect></Response>';
const server = createServer((request, response) => response.setHeader('content-type', 'text/xml').end(connect));
const tone = Buffer.alloc(6400, Buffer.from([...Array(8).fill(0x10), ...Array(8).fill(0x90)])).toString('base64');
new WebSocketServer({ server }).on('connection', (socket) => {
  const runTool = toolsOf(socket, { book_table: () => ({ booked: true }) });
  let [streamSid, quiet, spoke] = ['', 0, false];
  const play = () => socket.send(JSON.stringify({ event: 'media', streamSid, media: { payload: tone } }));
  socket.on('message', async (data) => {
    const { event, media, ...message } = JSON.parse(data);
    if (event === 'start') {
      streamSid = message.streamSid;
      play();
    }
    if (event !== 'media') return;
    const isLoud = Buffer.from(media.payload, 'base64').some((byte) => (byte & 0x7f) < 0x50);
    quiet = isLoud ? 0 : quiet + 1;
    spoke ||= isLoud;
    if (!spoke || quiet !== 25) return;
    spoke = false;
    await runTool('book_table', { guests: 2, time: '19:00' });
    play();
  });
});
server.listen(process.env.PORT, () => console.log('The agent listens'));
`;

const BOOKING = {
  name: 'Books a table',
  scenarioText: 'You book a table for two at seven.',
  script: [{ say: 'A table for two at seven, please.' }, { end: 'Booked' }],
  checks: [
    {
      name: 'Books it once, after it was asked',
      type: 'calls_tool',
      tool: 'book_table',
      arguments: { guests: 2, time: '19:00' },
      times: { max: 1 },
    },
    { name: 'Has a booking', type: 'same_value', sources: [{ tool: 'book_table', result: 'booked' }, { value: true }] },
  ],
};

describe('the guide to reported tool calls', () => {
  const agents: ChildProcess[] = [];
  let app: TestApp;
  let folder: string;

  beforeAll(async () => {
    app = await createTestApp({ env: { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8' } });
    folder = await mkdtemp(path.join(tmpdir(), 'tool-calls-guide-'));
    await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
    await writeFile(path.join(folder, 'report-tool-call.mjs'), REPORTS!);
    await writeFile(path.join(folder, 'tools-of.mjs'), TWILIO!);
  });
  afterAll(async () => {
    for (const agent of agents) agent.kill();
    await app.close();
    await rm(folder, { recursive: true });
  });

  /** Starts the agent and calls it. */
  async function callOf(protocol: string, address: string, program: string): Promise<any> {
    const { client, agentId, apiKey } = await prepareEvaluations(app, [BOOKING]);
    const port = await freePort();
    const file = path.join(folder, `agent-${port}.mjs`);
    await writeFile(file, program);
    const env = { ...process.env, PORT: String(port), VAT_URL: app.url, VAT_API_KEY: apiKey, NODE_OPTIONS: '' };
    const agent = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    agents.push(agent);
    await once(agent.stdout, 'data');
    const body = { protocol, url: `http://127.0.0.1:${port}${address}`, options: { toolCalls: 'reported' } };
    expect(await client.put(`/agents/${agentId}/connection`, body)).toMatchObject({ status: 200 });
    const { id } = await executeRun(client, agentId, { minimumScore: 0 });
    const [{ id: callId }] = (await client.get(`/runs/${id}/calls`)).body.data;
    return (await client.get(`/calls/${callId}`)).body.data;
  }

  it.each([
    ['chat-completions', '/v1/chat/completions', EXPRESS!, /await reportToolCall\(.*\);/],
    ['twilio-media-streams', '/voice', TWILIO_AGENT, /await runTool\(.*\);/],
  ])(
    'has code with which a booking is seen over %s, and an agent that only says so fails',
    async (protocol, address, program, booking) => {
      const [healthy, faulty] = await Promise.all([
        callOf(protocol, address, program),
        callOf(protocol, address, program.replace(booking, '')),
      ]);
      expect(program).toMatch(booking);
      expect(healthy).toMatchObject({ outcome: 'passed', measures: { toolCalls: 1 } });
      const tool = healthy.timeline.find(({ type }: any) => type === 'tool_call');
      expect(tool).toMatchObject({ turn: 1, arguments: { guests: 2 }, result: { booked: true } });
      expect(faulty).toMatchObject({ outcome: 'failed', measures: { toolCalls: 0 } });
      expect(faulty.checks).toMatchObject([
        { met: false, detail: expect.stringContaining('never called book_table') },
        {},
      ]);
    },
    60_000,
  );
});
