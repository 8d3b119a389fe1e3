import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { shareOf } from '../../libs/statistics/testing/sample.js';
import { PROJECT_ROOT } from '../../src/platform/project-root.js';
import { agentBody, personalityBody } from '../factories/bodies.js';
import type { AgentHosts } from '../support/hostile/agents-program.js';
import { KEY } from '../support/hostile/platforms.js';
import { HttpClient } from '../support/http.js';
import { LogLines } from '../support/log-lines.js';
import { programArguments } from '../support/program.js';
import { shortEvaluation } from '../support/run-app.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

/** Of each wire. */
const AGENTS = shareOf(20);
/** How the agents of a wire are reached, and where they are hostile. */
const WIRES: Readonly<
  Record<string, { readonly path?: string; readonly scheme?: string; readonly stages: readonly string[] }>
> = {
  'chat-completions': { path: '/v1/chat/completions', stages: ['answers'] },
  'retell-text': { stages: ['answers'] },
  'vapi-chat': { stages: ['answers'] },
  'elevenlabs-text': { stages: ['messages', 'answers'] },
  elevenlabs: { stages: ['messages', 'answers'] },
  vapi: { stages: ['messages', 'answers'] },
  'openai-realtime': { path: '/v1/realtime', scheme: 'ws', stages: ['messages'] },
  'twilio-media-streams': { path: '/voice', stages: ['messages', 'answers'] },
  pipecat: { path: '/ws-client', scheme: 'ws', stages: ['messages'] },
};
const VICTIMS = ['chat-completions', 'retell-text', 'elevenlabs', 'vapi'];
/** A thread may end by what it reads, but no process; and a platform that refuses to end a call goes on with it. */
const OF_AGENTS = /^The thread of the .* ended|^The platform could not be asked to end/;
const LISTENS = { script: [{ waitSeconds: 1 }, { end: 'Greeted' }] };
const isVoice = (wire: string): boolean => !/-(text|chat|completions)$/.test(wire);

describe('healthy agents of one workspace, beside generated hostile agents of another', () => {
  const log = new LogLines();
  let program: ChildProcess;
  let hosts: Readonly<Record<string, AgentHosts>>;
  let app: TestApp;

  beforeAll(async () => {
    const args = programArguments('test/support/hostile/agents-program.ts');
    program = spawn(process.execPath, args, { cwd: PROJECT_ROOT, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    [hosts] = (await once(program, 'message')) as [typeof hosts];
    const slots = { WORKER_CONCURRENCY: '40', VOICE_CONCURRENCY: '40' };
    app = await createTestApp({ log, env: { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8', ...slots } });
  }, 60_000);
  afterAll(async () => {
    await app?.close();
    const ended = once(program, 'exit');
    program.kill();
    await ended;
  });

  async function workspace() {
    const client = new HttpClient(app.url, (await app.createWorkspace()).apiKey);
    const created = async (at: string, body: object) => {
      const response = await client.post(at, body);
      expect(response).toMatchObject({ status: 201 });
      return response.body.data.id as string;
    };
    const personalityId = await created('/personalities', personalityBody());
    const agent = async (wire: string, host: string, before = '') => {
      const { scheme = 'http', path = '' } = WIRES[wire]!;
      const id = await created('/agents', agentBody({ apiKey: KEY }));
      const connection = { protocol: wire, url: `${scheme}://${host}${before}${path}` };
      expect(await client.put(`/agents/${id}/connection`, connection)).toMatchObject({ status: 200 });
      const heard =
        wire.startsWith('twilio') || wire.startsWith('openai') ? { checks: [{ type: 'max_turns', turns: 9 }] } : {};
      const evaluation = shortEvaluation({ ...(isVoice(wire) && LISTENS), ...heard });
      await created(`/agents/${id}/evaluations`, { personalityId, ...evaluation });
      return id;
    };
    const run = (agentId: string, repeat = 1) => created(`/agents/${agentId}/runs`, { repeat, concurrency: repeat });
    const callsOf = async (runId: string): Promise<any[]> => {
      const list = (await client.get(`/runs/${runId}/calls?limit=100`)).body.data as { id: string }[];
      return Promise.all(list.map(async ({ id }) => (await client.get(`/calls/${id}`)).body.data));
    };
    return { client, agent, run, callsOf };
  }

  it(`are called once and pass, while ${AGENTS} agents of each wire misbehave, and no error of the service is logged`, async () => {
    const [victim, attacker] = await Promise.all([workspace(), workspace()]);
    const victims = await Promise.all(VICTIMS.map((wire) => victim.agent(wire, hosts[wire]!.healthy)));
    const hostile: { wire: string; variant: string; runId: string }[] = [];
    for (const [wire, { stages }] of Object.entries(WIRES)) {
      for (let n = 0; n < AGENTS; n++) {
        const variant = `${stages[n % stages.length]}-${Math.floor((n * 20) / AGENTS)}`;
        const agentId = await attacker.agent(wire, hosts[wire]!.hostile, `/${variant}`);
        hostile.push({ wire, variant, runId: await attacker.run(agentId) });
      }
    }
    const open = new Set(hostile.map(({ runId }) => runId));
    const over = Promise.all(
      hostile.map(async ({ runId }) => {
        await attacker.client.get(`/runs/${runId}?wait=60`);
        open.delete(runId);
      }),
    );
    const found: any[] = [];
    do {
      const runs = await Promise.all(victims.map((agentId) => victim.run(agentId, 5)));
      await Promise.all(runs.map((id) => victim.client.get(`/runs/${id}?wait=60`)));
      found.push(...(await Promise.all(runs.map((id) => victim.callsOf(id)))).flat());
      await sleep(100);
    } while (open.size > 0);
    await over;
    const wrong = found.filter(({ outcome, attempts }) => outcome !== 'passed' || attempts.length !== 1);
    expect(wrong.map(({ outcome, reason, attempts }) => ({ outcome, reason, attempts }))).toEqual([]);
    expect(found.length).toBeGreaterThanOrEqual(20);
    for (const { wire, variant, runId } of hostile) {
      await attacker.client.post(`/runs/${runId}/cancel`);
      for (const { attempts, failure } of await attacker.callsOf(runId)) {
        const codes = [failure?.code, ...attempts.map(({ failureCode }: any) => failureCode)];
        expect({ wire, variant, codes }).not.toMatchObject({ codes: expect.arrayContaining(['internal']) });
      }
      for (const page of ['report', 'junit'])
        expect({ wire, variant, ...(await attacker.client.get(`/runs/${runId}/${page}`)) }).toMatchObject({
          status: 200,
        });
    }
    const errors = log.lines.filter(({ level, msg }) => level >= 50 && !OF_AGENTS.test(String(msg)));
    expect(errors).toEqual([]);
  }, 600_000);
});
