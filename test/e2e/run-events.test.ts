import { RunEventsService } from '../../src/modules/results/progress/run-events.service.js';
import { type EventStream, openEventStream, type StreamEvent } from '../support/event-stream.js';
import { expectInvalid } from '../support/expect.js';
import { callEnv, executeRun, prepareEvaluations } from '../support/run-app.js';
import { delayed, type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

describe('the events of a run', () => {
  let app: TestApp;
  let agent: ScriptedAgent;

  beforeAll(async () => {
    agent = await startScriptedAgent(({ model }) => delayed(model === 'slow' ? 30_000 : 150));
    app = await createTestApp({ env: callEnv(agent.url) });
  });
  afterAll(async () => {
    await app.close();
    await agent.close();
  });

  /** How many streams each workspace has open. */
  const openStreams = () => app.nest.get<unknown, { open: Map<string, number> }>(RunEventsService).open;
  const begin = async (body: object, agentValues: object = {}) => {
    const prepared = await prepareEvaluations(app, undefined, agentValues);
    const { id } = (await prepared.client.post(`/agents/${prepared.agentId}/runs`, body)).body.data;
    const listen = (lastEventId?: string): Promise<EventStream> =>
      openEventStream(`${app.url}/runs/${id}/events`, {
        Authorization: `Bearer ${prepared.apiKey}`,
        ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }),
      });
    return { ...prepared, id: id as string, listen };
  };
  const endedCalls = (events: readonly StreamEvent[]): string[] =>
    events.filter(({ event, data }) => event === 'call' && data.status === 'ENDED').map(({ data }) => data.id);
  const callIds = async (run: { client: any; id: string }): Promise<string[]> =>
    (await run.client.get(`/runs/${run.id}/calls?limit=100`)).body.data.map(({ id }: any) => id);

  it('start with the run, report every call and end with the run', async () => {
    const run = await begin({ repeat: 6, concurrency: 2 });
    const stream = await run.listen();
    expect(stream.status).toBe(200);
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    expect(stream.headers.get('cache-control')).toContain('no-cache');
    await stream.ended;
    const runs = stream.events.filter(({ event }) => event === 'run').map(({ data }) => data);
    expect(['QUEUED', 'RUNNING']).toContain(runs[0].status);
    expect(runs.at(-1)).toEqual((await run.client.get(`/runs/${run.id}`)).body.data);
    expect(runs.at(-1)).toMatchObject({ status: 'COMPLETED', counts: { passed: 6, pending: 0 } });
    // Nothing follows the end, and counts only increase.
    expect(stream.events.at(-1)?.event).toBe('run');
    const passed = runs.map(({ counts }) => counts.passed as number);
    expect(passed).toEqual([...passed].sort((a, b) => a - b));
    expect(endedCalls(stream.events).sort()).toEqual((await callIds(run)).sort());
    expect(stream.events.find(({ event }) => event === 'call')?.data).toMatchObject({
      evaluationId: run.evaluationIds[0],
      evaluationName: 'Is greeted',
    });
  });

  it('of an ended run are sent immediately', async () => {
    const { client, agentId, apiKey } = await prepareEvaluations(app);
    const run = await executeRun(client, agentId);
    const stream = await openEventStream(`${app.url}/runs/${run.id}/events`, { Authorization: `Bearer ${apiKey}` });
    await stream.ended;
    expect(stream.events.map(({ event }) => event)).toEqual(['call', 'run']);
    expect(stream.events[1]?.data).toEqual(run);
  });

  it('end when the run is cancelled', async () => {
    const run = await begin({}, { assistantId: 'slow' });
    const stream = await run.listen();
    await until('the run has started', () => stream.events.some(({ data }) => data.status === 'RUNNING'));
    await run.client.post(`/runs/${run.id}/cancel`);
    await stream.ended;
    expect(stream.events.at(-1)).toMatchObject({ event: 'run', data: { status: 'CANCELLED' } });
  });

  it('resume without a gap after the connection broke at any point', async () => {
    // Long enough for several connections: events are sent every half second.
    const run = await begin({ repeat: 24, concurrency: 2 });
    const seen: StreamEvent[] = [];
    let lastId: string | undefined;
    for (let connections = 1; ; connections++) {
      const stream = await run.listen(lastId);
      const enough = 1 + (connections % 4);
      const wasLast = await Promise.race<boolean>([
        stream.ended.then(() => true),
        until('some events have come', () => stream.events.length >= enough).then(() => false),
      ]);
      if (!wasLast) stream.disconnect();
      await stream.ended;
      // A client knows only what came before the connection broke.
      seen.push(...stream.events);
      lastId = stream.events.findLast(({ id }) => id !== undefined)?.id ?? lastId;
      if (wasLast) {
        expect(connections).toBeGreaterThan(2);
        break;
      }
    }
    expect([...new Set(endedCalls(seen))].sort()).toEqual((await callIds(run)).sort());
    expect(seen.at(-1)?.data.status).toBe('COMPLETED');
  });

  it('repeat nothing when resumed at the end', async () => {
    const { client, agentId, apiKey } = await prepareEvaluations(app);
    const run = await executeRun(client, agentId, { repeat: 3 });
    const listen = async (id: string) => {
      const headers = { Authorization: `Bearer ${apiKey}`, 'Last-Event-ID': id };
      const stream = await openEventStream(`${app.url}/runs/${run.id}/events`, headers);
      await stream.ended;
      return stream.events;
    };
    // Changes made while an older transaction is open, in any database of the server, may be repeated.
    const changes = `SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint > max(changed_in) AS "areOld"
                       FROM calls WHERE run_id = '${run.id}'`;
    await until(
      'older transactions have ended',
      async () => (await sql(app.databaseUrl, changes))[0]?.['areOld'] === true,
    );
    const all = await listen('0');
    expect(endedCalls(all)).toHaveLength(3);
    const again = await listen(all.at(-1)?.id ?? '');
    expect(again.map(({ event }) => event)).toEqual(['run']);
  });

  it.each(['x', '-1', '1.5', '9'.repeat(19), '0x1', '1 2'])('reject the id %j', async (id) => {
    const { client, agentId } = await prepareEvaluations(app);
    const run = await executeRun(client, agentId);
    expectInvalid(await client.get(`/runs/${run.id}/events`, { 'Last-Event-ID': id }), 'Last-Event-ID');
  });

  it('free the stream when the client disconnects', async () => {
    const open = openStreams();
    const run = await begin({}, { assistantId: 'slow' });
    const streams = await Promise.all(Array.from({ length: 100 }, () => run.listen()));
    expect(open.get(run.workspaceId)).toBe(100);
    const rejected = await run.client.get(`/runs/${run.id}/events`);
    expect([rejected.status, rejected.body.code]).toEqual([429, 'TOO_MANY_REQUESTS']);
    for (const stream of streams) stream.disconnect();
    await until('every stream is freed', () => !open.has(run.workspaceId), 5_000);
    const one = await run.listen();
    expect(one.status).toBe(200);
    await run.client.post(`/runs/${run.id}/cancel`);
    await one.ended;
    expect(open.has(run.workspaceId)).toBe(false);
  });

  it('free the stream of a client that disconnects before the first event', async () => {
    const open = openStreams();
    const run = await begin({}, { assistantId: 'slow' });
    const headers = { Authorization: `Bearer ${run.apiKey}` };
    for (let round = 0; round < 60; round++) {
      const signal = AbortSignal.timeout(round % 6);
      await fetch(`${app.url}/runs/${run.id}/events`, { headers, signal }).catch(() => undefined);
    }
    await until('every stream is freed', () => !open.has(run.workspaceId), 5_000);
    expect((await run.client.post(`/runs/${run.id}/cancel`)).status).toBe(200);
  });

  it('end immediately for a HEAD request', async () => {
    const run = await begin({}, { assistantId: 'slow' });
    const startedAt = performance.now();
    const response = await run.client.send('HEAD', `/runs/${run.id}/events`);
    expect([response.status, response.headers.get('content-type'), response.body]).toEqual([
      200,
      'text/event-stream',
      '',
    ]);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(openStreams().has(run.workspaceId)).toBe(false);
    await run.client.post(`/runs/${run.id}/cancel`);
  });
});
