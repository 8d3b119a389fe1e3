import { ElevenLabsServer, says, server } from '../../libs/simulation/testing/elevenlabs.js';
import { RetellServer } from '../simulators/retell/server.js';
import { chatSays, says as vapiSays, VapiServer } from '../../libs/simulation/testing/vapi.js';
import { sample } from '../../libs/statistics/testing/sample.js';
import { type PaidAgent, PaidService } from '../support/paid-service.js';
import { shortEvaluation } from '../support/run-app.js';
import { until } from '../support/until.js';

jest.setTimeout(240_000);

/** In which the platforms' calls have ended after the death of a process. */
const ENDED_WITHIN_MS = 60_000;
/** In which an answer of a platform has arrived at the process. */
const ANSWER_MS = 500;
/** More than that, so that nothing but the service ends a call that is not connected. */
const VALID_MS = 120_000;

type Point = 'asked' | 'unwritten' | 'dialled' | 'begun' | 'ending';

/** How a point is reached. */
interface Place {
  /** Event of the double with its number: from then on the process can write nothing of the attempt. */
  readonly holdsAt?: string;
  /** With this one the process dies: nothing is received from then on. Absent: after the answer to `holdsAt`. */
  readonly diesAt?: string;
}
type Places = Readonly<Partial<Record<Point, Place>>>;

const SOCKET = {
  asked: { diesAt: 'asked 1' },
  unwritten: { holdsAt: 'asked 1' },
  dialled: { diesAt: 'dialled 1' },
  begun: { diesAt: 'begun 1' },
} as const;
/**
 * Calls of requests over HTTP, of which nothing stays open: the platform's answer places no call, so nothing is written
 * of it, and nothing is dialled after that. They end with the last answer.
 */
const REQUESTS = {
  asked: { diesAt: 'asked 1' },
  begun: { diesAt: 'asked 2' },
  ending: { holdsAt: 'asked 2' },
} as const;

const VOICE = [{ waitSeconds: 3 }, { end: 'Greeted' }];
const TEXT = [{ say: 'Hello' }, { say: 'Again' }];
const welcome = server.response('Welcome!');

interface Platform {
  readonly protocol: string;
  readonly script: readonly object[];
  readonly places: Places;
  readonly double: ElevenLabsServer | VapiServer | RetellServer;
  /** Calls that cost money now, and all that the platform has carried. */
  readonly open: () => number;
  readonly carried: () => number;
  /** How many it has carried for a run in which a process died here, if not two. */
  readonly carriedOnce: readonly Point[];
}

async function elevenlabs(medium: 'voice' | 'text'): Promise<Platform> {
  const script =
    medium === 'voice'
      ? { onStart: [{ send: [server.metadata(), ...says(1, 'Welcome!', 800)] }] }
      : {
          onStart: [{ send: [server.metadata(), welcome] }],
          onTurn: [[{ afterMs: 3_000, send: [welcome] }], [{ send: [welcome] }]],
        };
  const double = await ElevenLabsServer.start({ script });
  return {
    ...(medium === 'voice' ? { protocol: 'elevenlabs', script: VOICE } : { protocol: 'elevenlabs-text', script: TEXT }),
    places: { ...SOCKET, ending: { holdsAt: 'dialled 1', diesAt: 'closed 1' } },
    double,
    open: () => double.openCalls,
    carried: () => double.agents.length,
    // The socket is the call, and there is none before it is dialled.
    carriedOnce: ['asked', 'unwritten', 'dialled'],
  };
}

async function vapi(): Promise<Platform & { readonly double: VapiServer }> {
  const script = { onStart: [{ send: vapiSays('t1', 'Welcome!', 800) }] };
  const double = await VapiServer.start({ script, validMs: VALID_MS });
  return {
    ...{ protocol: 'vapi', script: VOICE, double },
    places: { ...SOCKET, ending: { holdsAt: 'dialled 1', diesAt: 'ending 1' } },
    open: () => double.openCalls,
    carried: () => double.placedCalls,
    carriedOnce: ['asked'],
  };
}

async function vapiChat(): Promise<Platform> {
  const double = await VapiServer.start({ chat: [[chatSays('Welcome!')], [chatSays('Welcome!')]] });
  return {
    ...{ protocol: 'vapi-chat', script: TEXT, places: REQUESTS, double, open: () => double.openCalls },
    carried: () => double.requests.filter(({ body }) => body['previousChatId'] === undefined).length,
    carriedOnce: ['asked'],
  };
}

async function retell(): Promise<Platform> {
  const answer = () => ({ messages: [{ role: 'agent', content: 'Welcome!' }] });
  const double = await RetellServer.start({ answer });
  return {
    ...{ protocol: 'retell-text', script: TEXT, places: REQUESTS, double, open: () => 0 },
    carried: () => double.completions.filter(({ messages }) => messages.length === 1).length,
    carriedOnce: ['asked'],
  };
}

/** The death of a process, until which platforms hold back what it has sent. */
class Death {
  isOver = false;
  private over = () => {};
  private readonly done = new Promise<void>((resolve) => (this.over = resolve));
  private readonly frees: (() => Promise<void>)[] = [];

  constructor(private readonly service: PaidService) {}

  /** @returns once the call of the platform is where the process shall die */
  awaitAt({ double }: Platform, { holdsAt, diesAt }: Place): Promise<void> {
    return new Promise((reached, failed) => {
      const seen = new Map<string, number>();
      let isReached = false;
      let attempt = '';
      double.onEvent = async (event: string, of = attempt) => {
        if (this.isOver) return undefined;
        attempt = of;
        const number = (seen.get(event) ?? 0) + 1;
        seen.set(event, number);
        const moment = `${event} ${number}`;
        if (moment === holdsAt) {
          await this.service.holdRows(attempt).then((free) => this.frees.push(free), failed);
          if (diesAt === undefined) setTimeout(reached, ANSWER_MS);
        }
        if (!isReached && moment !== diesAt) return undefined;
        isReached = true;
        reached();
        await this.done;
        return false;
      };
    });
  }

  async strike(): Promise<void> {
    const { worker } = this.service;
    worker.child.kill('SIGKILL');
    await worker.waitForExit();
    this.isOver = true;
    this.over();
    for (const free of this.frees) await free();
  }
}

describe('a process that is killed during calls of platforms', () => {
  let platforms: readonly (readonly [Platform, PaidAgent])[] = [];
  let service: PaidService;
  let ofVapi: VapiServer;

  beforeAll(async () => {
    service = await PaidService.start({ OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8' });
    const voice = await vapi();
    ofVapi = voice.double;
    const all = [voice, await elevenlabs('voice'), await elevenlabs('text'), await vapiChat(), await retell()];
    const agentOf = ({ protocol, script, double }: Platform) =>
      service.addAgent(shortEvaluation({ script }), { protocol, url: double.url });
    platforms = await Promise.all(all.map(async (platform) => [platform, await agentOf(platform)] as const));
    // The first calls load what calls need.
    await Promise.all(
      platforms.map(async ([{ protocol }, agent]) => {
        const id = await agent.startRun();
        await until(`the first run over ${protocol} has ended`, () => agent.hasEnded(id), 150_000);
      }),
    );
  });
  afterAll(async () => {
    await service.close();
    for (const [{ double }] of platforms) await double.stop();
  });

  const points: readonly (readonly [string, Point])[] = [
    ['before the request', 'asked'],
    ["after the platform's answer, and before it is written", 'unwritten'],
    ['after that is written', 'dialled'],
    ['in the call', 'begun'],
    ['while the call ends', 'ending'],
  ];
  const begun = 3;

  it.each(sample(points, begun))('%s leaves no call open, and each is dialled once more at most', async (_, point) => {
    const death = new Death(service);
    const calls = platforms.flatMap(([platform, agent]) => {
      const place = platform.places[point];
      if (!place) return [];
      return [{ platform, agent, before: platform.carried(), reached: death.awaitAt(platform, place) }];
    });
    const [requests, ends] = [ofVapi.requests.length, ofVapi.ends.length];
    const runs = await Promise.all(calls.map(({ agent }) => agent.startRun()));
    await Promise.all(calls.map(({ reached }) => reached));
    await death.strike();
    const struckAt = Date.now();
    await service.startWorker();

    for (const { platform } of calls) {
      const left = struckAt + ENDED_WITHIN_MS - Date.now();
      await until(`${platform.protocol} carries no call`, () => platform.open() === 0, left);
    }
    for (const [index, { platform, agent, before }] of calls.entries()) {
      const { protocol, open, carried, carriedOnce } = platform;
      await until(`the run over ${protocol} has ended`, () => agent.hasEnded(runs[index]!), ENDED_WITHIN_MS);
      await agent.expectPassedAgain(runs[index]!);
      const expected = carriedOnce.includes(point) ? 1 : 2;
      expect({ protocol, open: open(), carried: carried() - before }).toEqual({ protocol, open: 0, carried: expected });
    }
    // The call of the process that died was ended at its controlUrl, the other one by the end of its call.
    const last = expect.stringMatching(/^(message|control)$/);
    expect(ofVapi.ends.slice(ends)).toEqual(point === 'asked' ? [last] : ['control', last]);
    const sent = ofVapi.requests.slice(requests);
    expect(sent.map(({ method }) => method)).not.toContain('DELETE');
    // Its answer was not written: the call is looked for by the mark of the attempt.
    const isSearched = sent.some(({ method, url }) => method === 'GET' && url.startsWith('/call?'));
    expect(isSearched).toBe(point === 'asked' || point === 'unwritten');
  });
});
