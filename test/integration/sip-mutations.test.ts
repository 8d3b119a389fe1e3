import { randomUUID } from 'node:crypto';
import { OutboundClient } from '../../libs/outbound-http/index.js';
import { requestThreads } from '../../libs/simulation/index.js';
import { sessionHere } from '../../libs/simulation/testing/sip.js';
import { addressText } from '../../libs/sip/index.js';
import { FarSide } from '../../libs/sip/testing/far-side.js';
import { mutated, mutationsOf } from '../../libs/sip/testing/mutations.js';
import { shareOf } from '../../libs/statistics/testing/sample.js';
import { CapacityService } from '../../src/modules/capacity/capacity.service.js';
import { prepareEvaluations } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const MESSAGES = 60;
const AT_ONCE = 10;

describe('calls over SIP whose other side sends mutated messages', () => {
  let app: TestApp;
  let far: FarSide;
  afterAll(async () => {
    await requestThreads.close();
    await far.close();
    await app.close();
  });

  it('all end: no row of platform_calls stays open after 20,000 messages, and no error is uncaught', async () => {
    const uncaught: unknown[] = [];
    const note = (error: unknown): void => void uncaught.push(error);
    process.on('unhandledRejection', note).on('uncaughtException', note);
    app = await createTestApp({
      env: { ROLE: 'api', OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8', AGENT_PROVIDER_1_CONCURRENCY: '50' },
    });
    let seed = 0;
    far = await FarSide.open((request, send, socket) => {
      if (request.method === 'INVITE') {
        for (const text of mutated(request, mutationsOf(++seed, MESSAGES))) socket.write(text);
        return void socket.end();
      }
      // Who asks again over another connection is answered.
      if (request.method === 'BYE' || request.method === 'CANCEL') send(request.reply('200 OK'));
    });
    const { client, agentId } = await prepareEvaluations(app);
    const { workspaceId } = (await client.get<any>(`/agents/${agentId}`)).body.data;
    const endpoint = {
      ...({ provider: 'AGENT_PROVIDER_1', protocol: 'sip', firstSpeaker: 'agent' } as const),
      ...{ url: addressText(far.address), headers: {}, options: {} },
    };
    const capacity = app.nest.get(CapacityService);
    let results = 0;
    const call = async () => {
      const callId = randomUUID();
      const reserved = (await capacity.reserve({ id: agentId, workspaceId }, endpoint, callId, 60_000))!;
      const session = sessionHere(endpoint, {
        client: new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] }),
        ...{ assistantId: 'a-1', phoneNumber: '', workspaceId, callId },
        ...(reserved.ledger && { ledger: reserved.ledger }),
      });
      const options = { signal: new AbortController().signal, onStep: () => undefined, maxMs: 1_000 };
      await session.dial({ ...options, bindMedia: () => Promise.resolve(40_000) }).catch(() => undefined);
      await session.hangUp().catch(() => undefined);
      await reserved.release?.();
      results += 1;
    };
    const calls = Math.ceil(shareOf(20_000) / MESSAGES);
    for (let made = 0; made < calls; made += AT_ONCE) {
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, calls - made) }, call));
    }
    const open = `SELECT state, end_failures FROM platform_calls WHERE state <> 'ended'`;
    const countOpen = async () => {
      await capacity.sweep(() => Promise.resolve(endpoint));
      return (await sql(app.databaseUrl, open)).length;
    };
    await until('no call is open', async () => (await countOpen()) === 0, 60_000);
    process.off('unhandledRejection', note).off('uncaughtException', note);
    expect([results, seed]).toEqual([calls, calls]);
    expect(await sql(app.databaseUrl, 'SELECT DISTINCT state FROM platform_calls')).toEqual([{ state: 'ended' }]);
    expect(uncaught).toEqual([]);
  }, 600_000);
});
