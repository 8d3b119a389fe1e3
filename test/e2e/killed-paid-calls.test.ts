import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { PaidPlatform } from '../simulators/paid-platform/server.js';
import { usePaidPlatform } from '../../libs/simulation/testing/paid-platform/register.js';
import { sample } from '../../libs/statistics/testing/sample.js';
import { type PaidAgent, PaidService } from '../support/paid-service.js';
import { callEnv, shortEvaluation } from '../support/run-app.js';
import { until } from '../support/until.js';

jest.setTimeout(240_000);
usePaidPlatform();

const PRELOAD = path.join(process.env['TEST_BUILD']!, 'libs/simulation/testing/paid-platform/preload.js');
/** In which the platform's calls have ended after the death of a process. */
const ENDED_WITHIN_MS = 60_000;

describe('a process that is killed during calls on a platform that bills', () => {
  let platform: PaidPlatform;
  let service: PaidService;
  let agent: PaidAgent;

  beforeAll(async () => {
    platform = await PaidPlatform.start();
    const env = {
      ...(callEnv(platform.url) as Record<string, string>),
      AGENT_PROVIDER_1_PROTOCOL: 'paid-text',
      NODE_OPTIONS: `--import ${pathToFileURL(PRELOAD).href}`,
    };
    service = await PaidService.start(env);
    agent = await service.addAgent(shortEvaluation({ script: [{ say: 'Hello' }, { say: 'Again' }] }));
    // The first call loads what calls need.
    const id = await agent.startRun();
    await until('the first run has ended', () => agent.hasEnded(id), 150_000);
  });
  afterAll(async () => {
    await service.close();
    await platform.stop();
  });

  const points = [
    ['before its request', 'connecting', 0, 1],
    ["before it has written the platform's answer", 'unwritten', 0, 2],
    ['after it has written that', 'spoken', 1, 2],
    ['in the call', 'spoken', 2, 2],
    ['while it ends the call', 'ending', 1, 2],
  ] as const;
  const inTheCall = 3;

  it.each(sample(points, inTheCall))(
    '%s leaves no call open, and each is dialled once more at most',
    async (_, point, occurrence, dialled) => {
      const before = platform.opened.length;
      const { worker } = service;
      let killedAt: number | undefined;
      let seen = 0;
      const kill = () => {
        if (killedAt !== undefined) return;
        killedAt = Date.now();
        worker.child.kill('SIGKILL');
      };
      platform.isConnectionCut = () => {
        if (point !== 'connecting' || killedAt !== undefined) return false;
        kill();
        return true;
      };
      platform.onEvent = async (event, attempt) => {
        if (killedAt !== undefined) return;
        if (point === 'unwritten' && event === 'opened') {
          const free = await service.holdRows(attempt);
          // The answer arrives, and its writing waits for the row.
          setTimeout(() => {
            kill();
            void worker.waitForExit().then(free);
          }, 500);
        }
        if (event === point && ++seen === occurrence) {
          kill();
          // Nothing of what the process wanted happens.
          await worker.waitForExit();
        }
      };
      const id = await agent.startRun();
      await until('the process is killed', () => killedAt !== undefined, 60_000);
      await service.startWorker();
      await until('the run has ended', () => agent.hasEnded(id), ENDED_WITHIN_MS + 30_000);
      await agent.expectPassedAgain(id);
      await until('no call is open', () => platform.open.size === 0, killedAt! + ENDED_WITHIN_MS - Date.now());
      expect(platform.opened.length - before).toBe(dialled);
    },
  );
});
