import { mediaThreads } from '../../libs/simulation/index.js';
import { ElevenLabsServer, says, server } from '../../libs/simulation/testing/elevenlabs.js';
import { crash, useFaultyThreads } from '../../libs/simulation/testing/faulty-threads.js';
import { says as vapiSays, VapiServer } from '../../libs/simulation/testing/vapi.js';
import { UUID } from '../support/expect.js';
import { platformApps } from '../support/platform-app.js';
import { sql } from '../support/sql.js';
import { until } from '../support/until.js';

const apiKey = 'sk_Of-the+Test/1234567890';
const GREETED = { onStart: [{ send: [server.metadata(), ...says(1, 'Welcome!', 800)] }] };
/** Nothing is answered, so the call goes on until something ends it. */
const SILENT = { onStart: [{ send: [server.metadata(), server.response('Welcome!')] }] };

const elevenlabs = {
  protocol: 'elevenlabs',
  id: /^conv_1$/,
  text: () => ElevenLabsServer.start({ apiKey, script: SILENT }),
  voice: () => ElevenLabsServer.start({ apiKey, script: GREETED }),
};
const vapi = {
  protocol: 'vapi',
  id: UUID,
  voice: () => VapiServer.start({ apiKey, script: { onStart: [{ send: vapiSays('t1', 'Welcome!', 800) }] } }),
};

describe('calls of a platform that keeps them open', () => {
  useFaultyThreads();
  const serve = platformApps();

  it.each([
    { ...elevenlabs, medium: 'text', start: elevenlabs.text },
    { ...elevenlabs, medium: 'voice', start: elevenlabs.voice },
    { ...vapi, medium: 'voice', start: vapi.voice },
  ])('end when a $medium run over $protocol is cancelled, and at its time limit', async (row) => {
    const { protocol, medium } = row;
    const waits = { script: [{ say: 'Hello' }] };
    const { client, platform, start, runOf, evaluationIds } = await serve(
      { protocol, apiKey },
      await row.start(),
      waits,
    );
    const id = await start({ medium });
    await until('the call is open', () => platform.openCalls === 1 && platform.agents.length === 1);
    expect(await client.post(`/runs/${id}/cancel`)).toMatchObject({ status: 200 });
    await until('it is closed', () => platform.openCalls === 0);
    const change = await client.patch(`/evaluations/${evaluationIds[0]}`, { maxDurationSeconds: 4 });
    expect(change).toMatchObject({ status: 200 });
    const limited = await start({ medium });
    await until('the run has ended', async () => (await runOf(limited)).endedAt !== null, 60_000);
    expect(platform.agents.length).toBeGreaterThan(1);
    expect(platform.openCalls).toBe(0);
  });

  it.each([
    { ...elevenlabs, start: elevenlabs.voice },
    { ...vapi, start: vapi.voice },
  ])('over $protocol end with the thread that carries them, and are dialled once more', async (row) => {
    const evaluation = { script: [{ waitSeconds: 3 }, { end: 'Greeted' }] };
    const agent = { protocol: row.protocol, apiKey };
    const { platform, start, app, runOf, callsOf } = await serve(agent, await row.start(), evaluation);
    const id = await start({ medium: 'voice' });
    await until('the call is in the thread', () => platform.agents.length === 1, 60_000);
    for (const thread of mediaThreads.threads) crash(thread);
    await until('it is closed', () => platform.openCalls === 0);
    await until('the run has ended', async () => (await runOf(id)).endedAt !== null, 60_000);
    const [call] = await callsOf(id);
    expect(call.attempts).toMatchObject([{ failureCode: 'thread_ended' }, { outcome: 'passed' }]);
    expect(call).toMatchObject({ retries: 0, platform: { id: expect.stringMatching(row.id) } });
    expect(platform.agents).toHaveLength(2);
    await until('the second call is closed', () => platform.openCalls === 0);
    expect(await sql(app.databaseUrl, 'SELECT state FROM platform_calls')).toEqual(Array(2).fill({ state: 'ended' }));
  });
});
