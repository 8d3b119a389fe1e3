import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { encodeMulaw } from '../../libs/audio/index.js';
import { OutboundClient } from '../../libs/outbound-http/index.js';
import { prepareScript, transportTo, type VoiceFacts, type VoiceTransport } from '../../libs/simulation/index.js';
import { FliteEngine, soundOf } from '../../libs/speech/index.js';
import { RealtimeServer } from '../simulators/openai-realtime/realtime-server.js';
import { until } from '../support/until.js';

const FOLDER = path.resolve(__dirname, '../realtime-agent');
const TOKEN = 'twilio-auth-token-of-the-test';
const ANSWER =
  'Tonight we have tomato soup, then grilled sea bass with lemon, a mushroom risotto, and a vegan curry with rice. For dessert there is lemon tart or ice cream.';
/** Its transport marks every 100 ms of audio and adds 50 ms. */
const AGREEMENT_MS = 80;

const isInstalled = existsSync(path.join(FOLDER, 'node_modules/@openai/agents'));
const mustRun = process.env['REQUIRE_ALL_TESTS'] === 'true';
if (!isInstalled && !mustRun) {
  console.warn(
    "Skipped: an agent of OpenAI's Agents SDK, because it is not installed (cd test/realtime-agent && npm ci --legacy-peer-deps --ignore-scripts)",
  );
}

type Printed = { readonly type: string } & Record<string, unknown>;

(isInstalled || mustRun ? describe : describe.skip)("an agent of OpenAI's Agents SDK on the telephone", () => {
  const engine = new FliteEngine();
  const printed: Printed[] = [];
  let realtime: RealtimeServer;
  let agent: ChildProcess;
  let url: string;

  beforeAll(async () => {
    realtime = await RealtimeServer.start(encodeMulaw((await engine.synthesise({ text: ANSWER, voice: 'rms' })).pcm));
    agent = spawn(process.execPath, [path.join(FOLDER, 'agent.mjs'), realtime.url, TOKEN], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    createInterface({ input: agent.stdout! }).on('line', (line) => {
      if (line.startsWith('{')) printed.push(JSON.parse(line) as Printed);
    });
    await until('the agent listens', () => printed.some(({ type }) => type === 'listening'), 30_000);
    url = `http://127.0.0.1:${String(printed.find(({ type }) => type === 'listening')!['port'])}/voice`;
  }, 60_000);
  afterAll(async () => {
    if (agent) {
      const exited = once(agent, 'exit');
      agent.kill();
      await exited;
    }
    await realtime?.close();
    await engine.close();
  });

  async function call(authToken: string): Promise<VoiceFacts> {
    const endpoint = {
      protocol: 'twilio-media-streams',
      url,
      headers: {},
      firstSpeaker: 'caller',
      options: { authToken },
    } as const;
    const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
    const transport = transportTo(endpoint, {
      client,
      assistantId: 'waiter',
      phoneNumber: '',
      workspaceId: 'w-1',
      callId: randomUUID(),
    });
    const script = await prepareScript(
      [
        { say: 'Good evening. What is on the menu tonight?' },
        { say: 'Sorry, only the vegan dishes, please.', bargeIn: { afterMs: 2_500 } },
        { waitSeconds: 1 },
        { end: 'Enough was heard' },
      ],
      'slt',
      { synthesise: (request) => engine.synthesise(request), soundOf },
    );
    return (transport as VoiceTransport).call({
      plan: {
        rate: 8_000,
        script,
        firstSpeaker: 'caller',
        turnEndMs: 700,
        patienceMs: 8_000,
        maxTurns: 10,
        maxDurationSeconds: 60,
        conditions: {},
        backgroundNoise: false,
        seed: 1,
      },
      signal: AbortSignal.timeout(90_000),
    });
  }

  it('accepts the signatures, clears on a barge-in, gets its marks back and truncates where the caller heard it stop', async () => {
    const facts = await call(TOKEN);
    expect(printed.filter(({ isAccepted }) => isAccepted !== undefined)).toEqual([
      { type: 'webhook', isAccepted: true },
      { type: 'upgrade', isAccepted: true },
    ]);
    const [, line] = facts.caller.filter(({ type }) => type === 'say');
    expect(line).toMatchObject({ bargeIn: { possible: true } });
    expect(facts.wireFindings.filter(({ severity }) => severity === 'error')).toEqual([]);

    const clear = facts.clears.find(({ atMs }) => atMs >= line!.startMs)!;
    expect(clear.droppedMs).toBeGreaterThan(500);
    expect(printed.filter(({ type }) => type === 'clear').length).toBeGreaterThanOrEqual(1);
    // Several came back while the answer was played, and the rest at the clear.
    expect(printed.filter(({ type }) => type === 'mark').length).toBeGreaterThan(10);

    const [truncation] = realtime.truncations;
    const itemStart = facts.arrivals.find(({ playedToMs }) => playedToMs > facts.caller[0]!.endMs)!.playedFromMs;
    expect(Math.abs(truncation!.audioEndMs - (clear.atMs - itemStart))).toBeLessThanOrEqual(AGREEMENT_MS);
  }, 120_000);

  it('refuses a wrong signature, and the failure says so', async () => {
    const before = printed.length;
    await expect(call('another token')).rejects.toThrow(/403/);
    await until('the agent has printed the refusal', () => printed.length > before);
    expect(printed.slice(before)).toEqual([{ type: 'webhook', isAccepted: false }]);
  }, 60_000);
});
