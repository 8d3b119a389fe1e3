import { VapiServer } from '../../libs/simulation/testing/vapi.js';
import { HAS_ALL_CASES } from '../../libs/statistics/testing/sample.js';
import type { KeptCall } from '../simulators/records/kept-calls.js';
import { BOOKS, fetcherOf } from '../support/production-calls.js';
import { createRunApp, prepareEvaluations, type RunApp, shortEvaluation } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { until } from '../support/until.js';

const RECORDS = HAS_ALL_CASES ? 10_000 : 3_000;
/** Each of another workspace, with a key of its own, so that they are fetched at once. */
const AGENTS = HAS_ALL_CASES ? 8 : 4;
const LINES = 30;

describe('records that wait', () => {
  let app: RunApp;
  let vapi: VapiServer;

  beforeAll(async () => {
    vapi = await VapiServer.start();
    const env = { AGENT_PROVIDER_4_PROTOCOL: 'vapi', AGENT_PROVIDER_4_URL: vapi.url, DATABASE_POOL_SIZE: '10' };
    app = await createRunApp({}, { env });
  }, 120_000);
  afterAll(async () => {
    await app?.close();
    await vapi?.stop();
  });

  const record = (index: number): KeptCall => {
    const endedAt = Date.now() - 1_000 - Math.floor((540_000 * index) / RECORDS);
    return {
      ...{ id: `waits-${index}`, agent: `assistant_${index % AGENTS}`, startedAt: endedAt - 400_000, endedAt },
      lines: Array.from({ length: LINES }, (_, line) => ({
        ...{ speaker: line % 2 === 0 ? ('agent' as const) : ('caller' as const), startMs: line * 4_000 },
        ...{ text: `This is sentence ${line} of call ${index} about a table for two.`, endMs: line * 4_000 + 3_000 },
      })),
    };
  };

  it('do not delay the calls of another workspace: fewer than 1 % of them are judged before its first one has begun', async () => {
    vapi.kept.keep(...Array.from({ length: RECORDS }, (_, index) => record(index)));
    const other = await prepareEvaluations(app, [shortEvaluation({ checks: [{ type: 'says', text: 'Good day' }] })]);
    for (let index = 0; index < AGENTS; index++) {
      const agent = {
        provider: 'AGENT_PROVIDER_4',
        assistantId: `assistant_${index}`,
        apiKey: `key_${index}_1234567890`,
      };
      await prepareEvaluations(app, [BOOKS], { ...agent, callMonitoring: true });
    }
    const judged = async () => Number((await sql(app.databaseUrl, `SELECT count(*) FROM day_calls`))[0]!['count']);
    const fetcher = fetcherOf(app);
    await fetcher.begin();
    await until('a call was judged', async () => (await judged()) > 0, 60_000);
    const before = await judged();
    const { id } = (await other.client.post(`/agents/${other.agentId}/runs`, {})).body.data;
    const begun = async () => (await other.client.get(`/runs/${id}/calls`)).body.data[0].startedAt !== null;
    await until('the call of the other workspace has begun', begun, 60_000);
    expect((await judged()) - before).toBeLessThan(RECORDS / 100);
    expect((await other.client.get(`/runs/${id}?wait=60`)).body.data).toMatchObject({ counts: { passed: 1 } });
    await fetcher.beforeApplicationShutdown();
  }, 180_000);
});
