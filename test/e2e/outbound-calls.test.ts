import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ConnectionTestPolicy } from '../../src/modules/agents/connection/connection-test-policy.js';
import { OutboundPlatforms } from '../simulators/outbound/server.js';
import { vapiRecord } from '../simulators/vapi/records.js';
import { speech } from '../../libs/simulation/testing/outbound.js';
import { type PaidAgent, PaidService } from '../support/paid-service.js';
import { describeWith } from '../support/programs.js';
import { shortEvaluation } from '../support/run-app.js';
import { callByBaresip, startTrunk, type Trunk } from '../support/trunk.js';
import { until } from '../support/until.js';

jest.setTimeout(240_000);

const NUMBERS = ['+49301000001', '+49301000002', '+49301000003', '+49301000004'];
const THEIRS = '+4930900001';
const KEY = 'key_1234567890abcdef';
const CLEAN = [{ name: 'Keeps to the protocol', type: 'clean_protocol' }];
const SAID = Buffer.concat([Buffer.alloc(16_000), Buffer.from(speech(1_000).buffer), Buffer.alloc(2_000_000)]);

describeWith(['kamailio', 'baresip'], 'agents that call the service', () => {
  let folder: string;
  let trunk: Trunk;
  let platforms: OutboundPlatforms;
  let service: PaidService;
  const callers: ReturnType<typeof callByBaresip>[] = [];

  beforeAll(async () => {
    trunk = await startTrunk();
    platforms = await OutboundPlatforms.start();
    folder = mkdtempSync(path.join(tmpdir(), 'outbound-'));
    const file = path.join(folder, 'accounts.json');
    const account = (number: string) => ({
      trunk: `sip:127.0.0.1:${trunk.port}`,
      user: number.slice(1),
      number,
      password: 'TRUNK_PASSWORD',
    });
    writeFileSync(file, JSON.stringify(NUMBERS.map(account)));
    service = await PaidService.start({
      SIP_ACCOUNTS: file,
      TRUNK_PASSWORD: 'secret',
      OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8',
    });
  });
  afterEach(async () => {
    for (const caller of callers.splice(0)) await caller.stop();
  });
  afterAll(async () => {
    await service.close();
    await platforms.stop();
    await trunk.stop();
    rmSync(folder, { recursive: true });
  });

  const agent = (connection: object = {}, values: object = {}, checks: readonly object[] = CLEAN) => {
    const url = `sip:127.0.0.1:${trunk.port}`;
    const options = { trigger: `${platforms.url}/call-me` };
    const evaluation = shortEvaluation({ script: [{ waitSeconds: 3 }, { end: 'Greeted' }], checks });
    return service.addAgent(
      evaluation,
      { protocol: 'sip', url, options, ...connection },
      { type: 'OUTBOUND', phoneNumber: THEIRS, ...values },
    );
  };

  /** Lets the agent call as soon as it is asked to. */
  const callBack = () => {
    platforms.onCall = ({ to }) => callers.push(callByBaresip(trunk, { to, user: THEIRS, said: SAID }));
  };
  const ended = (outbound: PaidAgent, run: string) => until('the run has ended', () => outbound.hasEnded(run), 120_000);
  const numbersOf = (call: (typeof callers)[number]) => /dial sip:(\+\d+)@/.exec(call.output())?.[1];

  it('are asked to call, are heard, and pass; each number has one call at a time', async () => {
    callBack();
    const outbound = await agent();
    const run = await outbound.startRun({ repeat: 2 });
    await ended(outbound, run);
    const { data } = (await outbound.client.get(`/runs/${run}`)).body;
    expect(data).toMatchObject({ counts: { passed: 2 } });
    expect(new Set(callers.map(numbersOf)).size).toBe(2);
  });

  it.each([
    ['find_table', 'passed'],
    ['cancel', 'failed'],
  ])('whose platform has a record with the tool call find_table: %s is %s', async (tool, outcome) => {
    callBack();
    const made = { agent: 'agent_01', lines: [], reason: 'assistant-ended-call', callerNumber: NUMBERS[0]! };
    const tools = [{ id: 't1', name: 'find_table', arguments: {}, result: '{}', startMs: 1_000 }];
    platforms.recordOf = (id) => vapiRecord({ id, ...made, startedAt: Date.now() - 9_000, endedAt: Date.now(), tools });
    const outbound = await agent(
      { options: { trigger: `vapi:${platforms.url}` } },
      { phoneNumberId: 'number-1', apiKey: KEY },
      [{ name: 'Calls the tool', type: 'calls_tool', tool }],
    );
    const run = await outbound.startRun();
    await ended(outbound, run);
    const [call] = (await outbound.client.get(`/runs/${run}/calls`)).body.data;
    const { reason } = call;
    expect({ outcome: call.outcome, reason }).toEqual({ outcome, reason });
    expect(platforms.requests.at(-1)).toMatchObject({ headers: { authorization: `Bearer ${KEY}` } });
  });

  it('are an error without blame if they do not call', async () => {
    const outbound = await agent();
    platforms.fault = 'refused';
    const run = await outbound.startRun();
    await ended(outbound, run);
    platforms.fault = 'none';
    const [call] = (await outbound.client.get(`/runs/${run}/calls`)).body.data;
    expect(call).toMatchObject({ outcome: 'error', reason: expect.stringContaining('HTTP 404') });
  });

  it.each(['asked', 'in the call'] as const)(
    'whose call is interrupted by the death of a process when it was %s are called again, and the first call is ended',
    async (point) => {
      let isReached = false;
      platforms.onCall = ({ to }) => {
        if (point === 'asked' && !isReached) return void (isReached = true);
        callers.push(callByBaresip(trunk, { to, user: THEIRS, said: SAID }));
      };
      const outbound = await agent();
      const run = await outbound.startRun();
      await until(
        'the agent was asked, or calls',
        () => isReached || /Call established/.test(callers[0]?.output() ?? ''),
        60_000,
      );
      service.worker.child.kill('SIGKILL');
      await service.worker.waitForExit();
      await service.startWorker();
      await ended(outbound, run);
      await outbound.expectPassedAgain(run);
      if (point === 'in the call') expect(callers[0]!.output()).toContain('session closed');
    },
  );

  it.each([
    [{ type: 'OUTBOUND' }, { options: {} }, 'set the option trigger of its connection'],
    [{ phoneNumber: null }, {}, 'set phoneNumber of the agent'],
    [{}, { options: { trigger: 'vapi' } }, 'set phoneNumberId of the agent'],
    [{}, { url: 'sip:{phoneNumber}@other.example' }, 'set SIP_ACCOUNTS to numbers of the trunk'],
    [{}, { url: 'sip:other.example' }, 'set SIP_ACCOUNTS to numbers of the trunk that is the url of its connection'],
  ])('are refused before a run or a test begins if they cannot call (%j, %j)', async (values, connection, cure) => {
    const outbound = await agent(connection, values);
    const refused = { status: 409, body: { message: expect.stringContaining(cure) } };
    expect(await outbound.client.post(`/agents/${outbound.agentId}/runs`, {})).toMatchObject(refused);
    expect(await outbound.client.post(`/agents/${outbound.agentId}/connection/test`, {})).toMatchObject(refused);
  });

  it('are tested by a call to the service', async () => {
    callBack();
    service.app.nest.get(ConnectionTestPolicy).timeoutMs = 60_000;
    const outbound = await agent();
    const { body } = await outbound.client.post(`/agents/${outbound.agentId}/connection/test`, {});
    expect(body.data).toMatchObject({ ok: true });
  });
});
