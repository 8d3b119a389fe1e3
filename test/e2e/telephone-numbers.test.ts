import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { executeInProcess } from '../../libs/client/testing/in-process.js';
import { expectInvalid } from '../support/expect.js';
import { ALL_PREFIXES, hostileAddresses, hostileNumbers } from '../support/hostile-targets.js';
import { executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const NUMBER = '+390612345678';

/** A trunk that asks for a digest, and answers that nobody has the number. */
class Trunk {
  readonly received: string[] = [];
  connections = 0;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();

  constructor() {
    this.server = createServer((socket) => {
      this.connections++;
      this.sockets.add(socket);
      let text = '';
      socket.on('error', () => undefined);
      socket.on('data', (some) => {
        text += String(some);
        for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
          const length = Number(/^Content-Length: *(\d+)/im.exec(text.slice(0, end))?.[1] ?? 0);
          this.answer(text.slice(0, end), socket);
          text = text.slice(end + 4 + length);
        }
      });
    }).listen(0, '127.0.0.1');
  }

  async address(): Promise<string> {
    if (!this.server.listening) await once(this.server, 'listening');
    return `sip:127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get invites(): string[] {
    return this.received.filter((message) => message.startsWith('INVITE '));
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private answer(message: string, socket: Socket): void {
    if (message === '') return;
    this.received.push(message);
    const [method = ''] = message.split(' ');
    if (method === 'ACK') return;
    const kept = message.split('\r\n').filter((line) => /^(Via|From|Call-ID|CSeq):/i.test(line));
    const to = `${/^To:.*$/im.exec(message)?.[0]};tag=far`;
    const isKnown = method !== 'INVITE' || /^Authorization:/im.test(message);
    const challenge = 'WWW-Authenticate: Digest realm="trunk", nonce="abc", algorithm=MD5, qop="auth"';
    const status = method !== 'INVITE' ? '200 OK' : isKnown ? '404 Not Found' : '401 Unauthorized';
    const lines = [`SIP/2.0 ${status}`, ...kept, to, ...(isKnown ? [] : [challenge]), 'Content-Length: 0', '', ''];
    socket.write(lines.join('\r\n'));
  }
}

describe('telephone numbers', () => {
  let trunk: Trunk;
  let app: TestApp;

  beforeAll(async () => {
    trunk = new Trunk();
    app = await createTestApp({
      env: {
        AGENT_PROVIDER_1_PROTOCOL: 'sip',
        AGENT_PROVIDER_1_SIP_TRUNK: await trunk.address(),
        AGENT_PROVIDER_1_SIP_USER: 'acme',
        AGENT_PROVIDER_1_SIP_PASSWORD: 'trunk-secret',
        AGENT_PROVIDER_1_SIP_CALLER: '+390698765432',
        SIP_ALLOWED_PREFIXES: '+3906',
        SIP_CALLS_PER_DAY: '5',
        OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32',
      },
    });
  });
  afterAll(async () => {
    await app.close();
    trunk.close();
  });

  const evaluation = (values: object = {}) =>
    shortEvaluation({ checks: [{ type: 'max_turns', turns: 3 }], maxDurationSeconds: 30, ...values });
  const prepare = (values: object = {}, agentValues: object = { phoneNumber: NUMBER }) =>
    prepareEvaluations(app, [evaluation(values)], agentValues);
  const messageOf = ({ body }: { body: any }) => [body.message, ...(body.issues ?? []).map((one: any) => one.message)];

  it('are dialled by the trunk of the provider, from its number and with its credentials', async () => {
    const { client, agentId, workspaceId } = await prepare();
    const invites = trunk.invites.length;
    const run = await executeRun(client, agentId);
    const dialling = { numbers: [{ number: NUMBER, of: 'agent' }], calls: 1, maxMinutes: 1 };
    expect(run).toMatchObject({ counts: { error: 1 }, dialling });
    const [first = '', second = ''] = trunk.invites.slice(invites);
    expect(first).toMatch(/^INVITE sip:\+390612345678@127\.0\.0\.1:\d+;transport=tcp SIP\/2\.0\r\n/);
    expect(first).toMatch(/^From: .*sip:\+390698765432@/m);
    expect(first).not.toMatch(/^Authorization/m);
    expect(second).toMatch(/^Authorization: Digest .*username="acme"/m);
    const { data } = (await client.get<any>(`/runs/${run.id}/calls`)).body;
    const call = (await client.get<any>(`/calls/${data[0].id}`)).body.data;
    expect(call).toMatchObject({ outcome: 'error', failure: { code: 'platform_refused' } });
    expect(JSON.stringify(call)).not.toMatch(/trunk-secret|127\.0\.0\.1/);
    const [used] = await sql<any>(app.databaseUrl, 'SELECT calls FROM dial_usage WHERE workspace_id = $1', [
      workspaceId,
    ]);
    expect(used).toEqual({ calls: 1 });
  });

  it('are those of evaluations before that of the agent', async () => {
    const { client, agentId } = await prepare({ vendorCallPhoneNumber: '+39 06 87654321' });
    const { body } = await client.post<any>(`/agents/${agentId}/runs`, { dryRun: true, repeat: 2 });
    const numbers = [{ number: '+390687654321', of: 'evaluation' }];
    expect(body.data.dialling).toEqual({ numbers, calls: 2, maxMinutes: 2 });
  });

  it('that may not be dialled are refused at the start, and nothing is sent', async () => {
    const before = trunk.connections;
    for (const [vendorCallPhoneNumber, reason] of [
      ['+12025550162', /vendorCallPhoneNumber has none of the prefixes of SIP_ALLOWED_PREFIXES/],
      ['+39899123456', /vendorCallPhoneNumber is a number of premium rate or shared cost: it is never dialled/],
      ['112', /vendorCallPhoneNumber must be "\+" and 8 to 15 digits for a trunk/],
      [`sip:+19005551234@127.0.0.1:${(await trunk.address()).split(':').pop()}`, /is never dialled/],
      ['sip:agent@10.0.0.1', /private or reserved network/],
      ['sip:agent:secret@sip.example.com', /must not have a password/],
    ] as const) {
      const { client, agentId, evaluationIds } = await prepare({ vendorCallPhoneNumber });
      for (const dryRun of [true, false]) {
        const response = await client.post<any>(`/agents/${agentId}/runs`, { dryRun, evaluationIds });
        expect(response.status).toBe(409);
        expect(messageOf(response)).toContainEqual(expect.stringMatching(reason));
      }
    }
    expect(trunk.connections).toBe(before);
  });

  it('and addresses that are hostile begin no call: a refused host gets neither a connection nor a packet', async () => {
    const port = Number((await trunk.address()).split(':').pop());
    const packets = createSocket('udp4');
    await new Promise<void>((resolve) => packets.bind(port, '127.0.0.1', resolve));
    let received = 0;
    packets.on('message', () => received++);
    const before = trunk.connections;
    const common = { AGENT_PROVIDER_1_PROTOCOL: 'sip', AGENT_PROVIDER_1_SIP_TRUNK: await trunk.address() };
    const env = { ...common, SIP_ALLOWED_PREFIXES: ALL_PREFIXES };
    const numbers = hostileNumbers(`127.0.0.1:${port}`);
    let refused = 0;
    for (const [networks, targets] of [
      ['127.0.0.1/32', numbers],
      [undefined, [...numbers, ...hostileAddresses(port)]],
    ] as const) {
      const strict = await createTestApp({ env: { ...env, ...(networks && { OUTBOUND_ALLOWED_NETWORKS: networks }) } });
      try {
        const { client, agentId, evaluationIds } = await prepareEvaluations(strict, [evaluation()]);
        for (const vendorCallPhoneNumber of targets) {
          const changed = await client.patch(`/evaluations/${evaluationIds[0]}`, { vendorCallPhoneNumber });
          const response = changed.status === 200 ? await client.post(`/agents/${agentId}/runs`, {}) : changed;
          expect([vendorCallPhoneNumber, response.status]).toEqual([
            vendorCallPhoneNumber,
            changed.status === 200 ? 409 : 400,
          ]);
          refused += 1;
        }
        expect((await client.get<any>(`/agents/${agentId}/runs`)).body.meta.total).toBe(0);
      } finally {
        await strict.close();
      }
    }
    packets.close();
    expect(refused).toBe(26 + 33);
    expect([trunk.connections - before, received]).toEqual([0, 0]);
  });

  it('at a name that leads to a private network get no connection', async () => {
    const before = trunk.connections;
    const other = await createTestApp({ env: { AGENT_PROVIDER_1_PROTOCOL: 'sip', SIP_ALLOWED_PREFIXES: '+3906' } });
    try {
      const { client, agentId } = await prepareEvaluations(other, [
        evaluation({ vendorCallPhoneNumber: `sip:${NUMBER}@localhost:${(await trunk.address()).split(':').pop()}` }),
      ]);
      const url = 'sip:agent@sip.example.com';
      await client.put(`/agents/${agentId}/connection`, { protocol: 'sip', url });
      const { id, counts } = await executeRun(client, agentId);
      expect(counts).toMatchObject({ error: 1 });
      const [call] = (await client.get<any>(`/runs/${id}/calls`)).body.data;
      expect((await client.get<any>(`/calls/${call.id}`)).body.data.failure.code).toBe('address_refused');
    } finally {
      await other.close();
    }
    expect(trunk.connections).toBe(before);
  });

  it('are refused by a connection test, and counted by it', async () => {
    const before = trunk.connections;
    const refused = await prepare({}, { phoneNumber: '+12025550162' });
    const response = await refused.client.post<any>(`/agents/${refused.agentId}/connection/test`);
    expect(response.status).toBe(409);
    expect(messageOf(response)).toContainEqual(expect.stringContaining('has none of the prefixes'));
    const without = await prepare({}, {});
    const noNumber = await without.client.post<any>(`/agents/${without.agentId}/connection/test`);
    expect(messageOf(noNumber)).toContainEqual(expect.stringContaining('is its phoneNumber, and it has none'));
    expect(trunk.connections).toBe(before);
    const { client, agentId, workspaceId } = await prepare();
    expect((await client.post<any>(`/agents/${agentId}/connection/test`)).body.data.ok).toBe(false);
    const used = () => sql<any>(app.databaseUrl, 'SELECT * FROM dial_usage WHERE workspace_id = $1', [workspaceId]);
    await until('the rest of the time is given back', async () => (await used())[0]?.seconds < 15);
    expect(await used()).toMatchObject([{ calls: 1 }]);
  });

  // futel/asteriskserver#123 and #212: Twilio refuses calls beyond one a second. While a call dials, its time to answer runs.
  it('wait for their turn on the trunk before their attempt begins to dial', async () => {
    const { client, agentId } = await prepare();
    await executeRun(client, agentId);
    const before = trunk.connections;
    const far = `UPDATE trunk_pace SET next_at = now() + interval '1 hour' RETURNING trunk`;
    expect(await sql(app.databaseUrl, far)).toHaveLength(1);
    try {
      const { id } = (await client.post<any>(`/agents/${agentId}/runs`, {})).body.data;
      const states = () => sql<any>(app.databaseUrl, 'SELECT state FROM platform_calls WHERE run_id = $1', [id]);
      await until('the call has capacity', async () => (await states()).length > 0);
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(await states()).toEqual([{ state: 'reserved' }]);
      expect(trunk.connections).toBe(before);
      expect((await client.post(`/runs/${id}/cancel`)).status).toBe(200);
      await until('its capacity is free', async () => (await states()).every(({ state }) => state === 'ended'));
    } finally {
      await sql(app.databaseUrl, 'DELETE FROM trunk_pace');
    }
  });

  it('are refused when a plan has more calls than the day', async () => {
    const { client, agentId } = await prepare();
    const response = await client.post<any>(`/agents/${agentId}/runs`, { repeat: 6 });
    expect(response.status).toBe(409);
    expect(messageOf(response)).toContainEqual(expect.stringContaining('(SIP_CALLS_PER_DAY): 0 are used today'));
  });

  it('are the address of a connection, which may be left out', async () => {
    const { client, agentId } = await prepare();
    const path = `/agents/${agentId}/connection`;
    const put = (body: object) => client.put<any>(path, { protocol: 'sip', ...body });
    expect((await put({})).body.data).toMatchObject({ protocol: 'sip', url: '{phoneNumber}', source: 'agent' });
    expect((await put({ url: NUMBER, headers: { 'X-Token': 'a' } })).body.data).toMatchObject({ url: NUMBER });
    // The trunk is still the one to which the header goes.
    expect((await put({ headers: { 'X-Token': null } })).status).toBe(200);
    expect((await put({ url: 'sip:agent@sip.example.com', headers: { 'X-Token': null } })).status).toBe(400);
    const refused = await put({ url: 'sip:agent:secret@sip.example.com' });
    expectInvalid(refused, 'url');
    expect(messageOf(refused)).toContain('url must not have a password');
    await client.patch(`/agents/${agentId}`, { provider: 'AGENT_PROVIDER_2' });
    const without = await put({});
    expectInvalid(without, 'url');
    expect(messageOf(without)[1]).toMatch(/^url must not be .*left out, because AGENT_PROVIDER_2_SIP_TRUNK is not set/);
    expect((await client.post(`/agents/${agentId}/runs`, {})).status).toBe(409);
  });

  it('are dialled by vat on a terminal only after it has asked, or with --yes', async () => {
    const { client, agentId, apiKey } = await prepare();
    const vat = async (words: readonly string[], answer?: boolean) => {
      let asked = 0;
      const { code, stdout, stderr } = await executeInProcess(
        words,
        { VAT_URL: app.url, VAT_API_KEY: apiKey },
        answer === undefined ? {} : { confirm: () => Promise.resolve(++asked > 0 && answer) },
      );
      return { code, stdout, stderr, asked };
    };
    const listed = async () => (await client.get<any>(`/agents/${agentId}/runs`)).body;
    const schedule = { name: 'Nightly', cron: '0 3 * * *', timeZone: 'UTC', run: {} };
    const { id: scheduleId } = (await client.post<any>(`/agents/${agentId}/schedules`, schedule)).body.data;
    const run = ['run', '--agent', agentId, '--no-wait'];
    const first = (await vat([...run, '--yes'], false)).stdout.trim();
    const dials = `Dials 1 telephone number in 1 call of at most 1 minute together: ${NUMBER} (of the agent).`;
    let runs = 1;
    for (const words of [run, ['rerun', first, '--no-wait'], ['schedule', 'run', scheduleId]]) {
      const refused = await vat(words, false);
      expect(refused).toMatchObject({ code: 2, asked: 1, stderr: expect.stringContaining(dials) });
      expect((await listed()).meta.total).toBe(runs);
      expect(await vat(words, true)).toMatchObject({ code: 0, asked: 1 });
      expect((await listed()).meta.total).toBe(++runs);
    }
    expect(await vat(run)).toMatchObject({ code: 0, asked: 0 });
    for (const { id } of (await listed()).data) await client.get(`/runs/${id}?wait=60`);
    // The calls of a day are used up.
    expect(await vat(['rerun', first, '--only', 'failed'], true)).toMatchObject({ code: 3, asked: 0 });
  });

  it('are dialled by vat connection test on a terminal only after it has asked, and names are without a question', async () => {
    const { client, agentId, apiKey } = await prepare();
    const asks = async () => {
      let asked = 0;
      const { code } = await executeInProcess(
        ['connection', 'test', '--agent', agentId],
        { VAT_URL: app.url, VAT_API_KEY: apiKey },
        { confirm: () => Promise.resolve(++asked < 0) },
      );
      return { code, asked };
    };
    const put = (url: string) => client.put(`/agents/${agentId}/connection`, { protocol: 'sip', url });
    const before = trunk.connections;
    for (const url of [
      NUMBER,
      '{phoneNumber}',
      `sip:%2B3906@127.0.0.1`,
      'sip:{assistantId}@127.0.0.1',
      'sip:700@127.0.0.1',
    ]) {
      expect((await put(url)).status).toBe(200);
      expect({ url, ...(await asks()) }).toEqual({ url, code: 2, asked: 1 });
    }
    expect(trunk.connections).toBe(before);
    await put('sip:agent@127.0.0.1:9');
    expect(await asks()).toEqual({ code: 2, asked: 0 });
  });
});
