import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type WebSocket, WebSocketServer } from 'ws';
import { expectNotFound } from '../support/expect.js';
import { LogLines } from '../support/log-lines.js';
import { prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';
import { startVoiceAgent, type VoiceAgentServer } from '../support/voice-agent.js';

const GREETED = shortEvaluation({
  script: [{ waitSeconds: 1 }, { end: 'Heard the greeting' }],
  checks: [{ name: 'Leaves it to the caller to hang up', type: 'ends_by', by: 'caller' }],
});

/** Time for floods, of which a busy machine reads less at a time. */
const PATIENT = { ...GREETED, script: [{ waitSeconds: 20 }, { end: 'The flood did not end the call' }] };

/** What a hostile agent does when its stream begins, by the path of its address. */
const ATTACKS: Readonly<Record<string, (socket: WebSocket, streamSid: string) => void>> = {
  '/marks': (socket, streamSid) => {
    for (let n = 0; n < 20_000; n++) {
      socket.send(JSON.stringify({ event: 'mark', streamSid, mark: { name: `${n}` } }));
    }
  },
  '/large-message': (socket) => socket.send('x'.repeat(9 * 1024 * 1024)),
};

const QUOTA_REACHED =
  '1 call has no recording: the workspace keeps as much as it may (RECORDINGS_BYTES_PER_WORKSPACE); delete old runs or raise it.';
const NOT_WRITTEN = '1 call has no recording: it could not be written; the log of the service has the error.';

describe('a voice call beside its limits', () => {
  const log = new LogLines();
  let agent: VoiceAgentServer;
  let hostile: WebSocketServer;
  let app: TestApp;
  let dataDir: string;

  beforeAll(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'vat-voice-failures-'));
    agent = await startVoiceAgent({ lines: [] });
    hostile = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    hostile.on('connection', (socket, { url = '' }) => {
      socket.on('error', () => undefined);
      socket.on('message', (data: Buffer) => {
        const message = JSON.parse(String(data)) as { event: string; streamSid: string };
        if (message.event === 'start') ATTACKS[url]?.(socket, message.streamSid);
      });
    });
    // Every workspace may record until it keeps something.
    const env = { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8', DATA_DIR: dataDir, RECORDINGS_BYTES_PER_WORKSPACE: '1' };
    app = await createTestApp({ env, log });
  }, 120_000);
  afterAll(async () => {
    await app?.close();
    await agent?.close();
    hostile?.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** A workspace whose agent is reached at this address. */
  async function prepare(url = `${agent.url}/voice`, evaluation: object = GREETED) {
    const { client, agentId, workspaceId } = await prepareEvaluations(app, [evaluation]);
    const connection = { protocol: 'twilio-media-streams', url };
    expect((await client.put(`/agents/${agentId}/connection`, connection)).status).toBe(200);
    const start = async () => (await client.post(`/agents/${agentId}/runs`, {})).body.data.id as string;
    /** The run after its end and its only call with details. */
    const ended = async (runId: string) => {
      const run = (await client.get(`/runs/${runId}?wait=60`)).body.data;
      const [{ id }] = (await client.get(`/runs/${runId}/calls`)).body.data;
      return { run, call: (await client.get(`/calls/${id}`)).body.data };
    };
    return { client, workspaceId, start, ended, execute: async () => ended(await start()) };
  }
  type Prepared = Awaited<ReturnType<typeof prepare>>;

  async function expectUnrecorded({ client }: Prepared, call: any, reason: string): Promise<void> {
    expect(call).toMatchObject({ outcome: 'passed', recording: null, recordingOmitted: reason });
    expect(call.attempts).toHaveLength(1);
    expectNotFound(await client.get(`/calls/${call.id}/recording`));
    expectNotFound(await client.get(`/calls/${call.id}/wire`));
  }
  const errors = (id: string) => log.lines.filter(({ level, msg }) => level === 50 && String(msg).includes(id));

  it('is not recorded when its workspace keeps as much as it may; another workspace is not affected', async () => {
    const [full, other] = [await prepare(), await prepare()];
    const first = (await full.execute()).call;
    expect(first).toMatchObject({
      outcome: 'passed',
      recording: { channels: ['caller', 'agent'] },
      recordingOmitted: null,
    });
    const [{ call, run }, beside] = await Promise.all([full.execute(), other.execute()]);
    await expectUnrecorded(full, call, 'quota');
    expect(run).toMatchObject({ status: 'COMPLETED', exitCode: 0, warnings: [QUOTA_REACHED] });
    expect(beside.run.warnings).toEqual([]);
    expect(beside.call).toMatchObject({ outcome: 'passed', recordingOmitted: null });
    expect(beside.call.recording).not.toBeNull();
    // Space that a deleted run leaves can be used again.
    expect((await full.client.get(`/calls/${first.id}/recording`)).status).toBe(200);
    expect((await full.client.delete(`/runs/${first.runId}`)).status).toBe(200);
  });

  it('is not recorded, and passes, when its folder cannot be created', async () => {
    const subject = await prepare();
    await mkdir(path.join(dataDir, 'recordings'), { recursive: true });
    await writeFile(path.join(dataDir, 'recordings', subject.workspaceId), '');
    const { call, run } = await subject.execute();
    await expectUnrecorded(subject, call, 'disk');
    expect(run).toMatchObject({ status: 'COMPLETED', exitCode: 0, warnings: [NOT_WRITTEN] });
    expect(errors(call.attempts[0].callId)[0]?.['msg']).toMatch(/cannot be recorded/);
  });

  it('is not recorded, and passes, when the disk fails during the call', async () => {
    const subject = await prepare();
    const runId = await subject.start();
    const folder = path.join(dataDir, 'recordings', subject.workspaceId, runId);
    await until('it is being recorded', async () => {
      try {
        return (await readdir(folder)).length > 0;
      } catch {
        return false;
      }
    });
    await rm(folder, { recursive: true });
    await writeFile(folder, '');
    const { call, run } = await subject.ended(runId);
    await expectUnrecorded(subject, call, 'disk');
    expect(run.warnings).toEqual([NOT_WRITTEN]);
    expect(errors(call.id)[0]?.['msg']).toMatch(/was not stored/);
  });

  it.each([
    ['/marks', /^The agent's response is too large: [\d,]+ marks, which is too many at once/],
    [
      '/large-message',
      /^Protocol error broken_websocket: .* one message is larger than 8 MiB\. The agent's response is too large/,
    ],
  ])(
    'of an agent that floods its stream (%s) is an error without a retry; a call beside it passes',
    async (url, reason) => {
      const { port } = hostile.address() as AddressInfo;
      const [flooding, healthy] = [await prepare(`ws://127.0.0.1:${port}${url}`, PATIENT), await prepare()];
      const [{ call, run }, beside] = await Promise.all([flooding.execute(), healthy.execute()]);
      expect(call).toMatchObject({ outcome: 'error', score: null, failure: { code: 'answer_too_large' }, retries: 0 });
      expect(call.reason).toMatch(reason);
      expect(call.attempts).toMatchObject([{ failureCode: 'answer_too_large' }]);
      // What was observed until then is shown, as after any end.
      expect(call.voice).toMatchObject({ speech: { callerMs: 0 } });
      expect(run).toMatchObject({ status: 'FAILED', exitCode: 2, counts: { error: 1 } });
      expect(beside.call).toMatchObject({ outcome: 'passed', attempts: [{ failureCode: null }] });
    },
  );
});
