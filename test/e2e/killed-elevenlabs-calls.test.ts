import { ElevenLabsServer, says, server } from '../../libs/simulation/testing/elevenlabs.js';
import { PaidService } from '../support/paid-service.js';
import { callEnv, shortEvaluation } from '../support/run-app.js';
import { until } from '../support/until.js';

jest.setTimeout(240_000);

/** In which the platform's calls have ended after the death of a process. */
const ENDED_WITHIN_MS = 60_000;
const greeting = server.response('Welcome!');

describe.each([
  {
    medium: 'text',
    script: [{ say: 'Hello' }, { say: 'Again' }],
    double: {
      onStart: [{ send: [server.metadata(), greeting] }],
      onTurn: [[{ afterMs: 500, send: [greeting] }], [{ send: [greeting] }]],
    },
  },
  {
    medium: 'voice',
    script: [{ waitSeconds: 3 }, { end: 'Greeted' }],
    double: { onStart: [{ send: [server.metadata(), ...says(1, 'Welcome!', 800)] }] },
  },
])('a process that is killed during a $medium call of ElevenLabs', ({ medium, script, double }) => {
  let platform: ElevenLabsServer;
  let service: PaidService;

  beforeAll(async () => {
    platform = await ElevenLabsServer.start({ script: double });
    const env = { ...(callEnv(platform.url) as Record<string, string>), AGENT_PROVIDER_1_PROTOCOL: 'elevenlabs' };
    service = await PaidService.start(env, shortEvaluation({ script }), { medium });
  });
  afterAll(async () => {
    await service.close();
    await platform.stop();
  });

  it.each([
    ["before the platform's answer", 'asked', 1],
    ['before it has written the answer', 'unwritten', 1],
    ['after it has written that', 'dialled', 2],
    ['in the call', 'begun', 2],
    ['while it ends the call', 'closed', 2],
  ])('%s leaves no call open, and each is dialled once more at most', async (_, point, dialled) => {
    const before = platform.upgrades.length;
    const { worker } = service;
    let killedAt: number | undefined;
    const kill = () => {
      killedAt ??= Date.now();
      worker.child.kill('SIGKILL');
    };
    let dialling = '';
    let free: (() => Promise<void>) | undefined;
    platform.onEvent = async (event, attempt = dialling) => {
      if (killedAt !== undefined) return;
      dialling = attempt;
      // The line cannot be freed, so the result is not yet written when the connection ends.
      if (point === 'closed' && event === 'begun') free = await service.lockRow(attempt);
      if (point === 'unwritten' && event === 'asked') {
        const unlock = await service.lockRow(attempt);
        // The answer arrives, and its writing waits for the row.
        setTimeout(() => {
          kill();
          void unlock();
        }, 500);
      }
      if (event !== point) return;
      kill();
      // Nothing of what the process wanted happens.
      await worker.waitForExit();
      await free?.();
    };
    const id = await service.startRun({ medium });
    await until('the process is killed', () => killedAt !== undefined, 60_000);
    await service.startWorker();
    await until('no call is open', () => platform.openCalls === 0, killedAt! + ENDED_WITHIN_MS - Date.now());
    await until('the run has ended', () => service.hasEnded(id), ENDED_WITHIN_MS + 30_000);
    expect((await service.client.get(`/runs/${id}`)).body.data).toMatchObject({
      status: 'COMPLETED',
      counts: { passed: 1 },
    });
    expect(platform.openCalls).toBe(0);
    expect(platform.upgrades.length - before).toBe(dialled);
    const [call] = (await service.client.get(`/runs/${id}/calls`)).body.data;
    expect(call.attempts.map(({ failureCode }: any) => failureCode)).toEqual(['interrupted', null]);
  });
});
