/** Healthy agents of all protocols, and proxies before them that make them hostile, in a process of their own. */
import { encodeMulaw } from '../../../libs/audio/index.js';
import {
  ElevenLabsServer,
  says as saysElevenLabs,
  server as elevenlabs,
} from '../../../libs/simulation/testing/elevenlabs.js';
import { connect, ScriptedAgent } from '../../simulators/twilio/twilio-agent.js';
import { says as saysVapi, VapiServer } from '../../../libs/simulation/testing/vapi.js';
import { speech as saysPipecat } from '../../simulators/pipecat/scripted.js';
import { says as pipecat } from '../../simulators/pipecat/messages.js';
import { PipecatServer } from '../../simulators/pipecat/server.js';
import { RealtimeServer } from '../../simulators/openai-realtime/realtime-server.js';
import { HostileAgents } from './agents.js';
import { ExchangeProxy } from './exchange-proxy.js';
import { hostOf, KEY, type Platform, TEXT_PLATFORMS } from './platforms.js';

const MS = 600;
const TONE = encodeMulaw(Int16Array.from({ length: 8 * MS }, (_, n) => 8_000 * Math.sin(n / 3)));

const VOICE_PLATFORMS: Readonly<Record<string, () => Promise<Platform>>> = {
  elevenlabs: async () => {
    const onStart = [{ send: [elevenlabs.metadata(), ...saysElevenLabs(1, 'Welcome!', MS)] }];
    const double = await ElevenLabsServer.start({ apiKey: KEY, script: { onStart } });
    return { host: hostOf(double.url), stop: () => double.stop() };
  },
  vapi: async () => {
    const double = await VapiServer.start({
      apiKey: KEY,
      script: { onStart: [{ send: saysVapi('t1', 'Welcome!', MS) }] },
    });
    return { host: hostOf(double.url), stop: () => double.stop() };
  },
  'openai-realtime': async () => {
    const double = await RealtimeServer.start(TONE);
    return { host: hostOf(double.url), stop: () => double.close() };
  },
  pipecat: async () => {
    const onClientReady = [{ send: [pipecat.ready(), ...saysPipecat('Welcome!', MS)] }];
    const double = await PipecatServer.start({ script: { onClientReady } });
    return { host: double.host, stop: () => double.stop() };
  },
  'twilio-media-streams': async () => {
    const double: ScriptedAgent = await ScriptedAgent.start({
      webhook: ({ path }) => connect(`ws://${double.host}${path.replace('voice', 'stream')}`),
      onStart: ({ play }) => play(TONE),
    });
    return { host: double.host, stop: () => double.stop() };
  },
};

async function main(): Promise<void> {
  const text = Object.entries(TEXT_PLATFORMS).map(([name, { start }]) => [name, start] as const);
  const hosts: Record<string, AgentHosts> = {};
  for (const [name, start] of [...text, ...Object.entries(VOICE_PLATFORMS)]) {
    const { host: healthy } = await start();
    hosts[name] = { healthy, hostile: (await ExchangeProxy.start(healthy, new HostileAgents())).host };
  }
  process.send?.(hosts);
  process.once('disconnect', () => process.exit());
}

/** Host and port of a healthy agent, and of the same one when it is hostile. */
export interface AgentHosts {
  readonly healthy: string;
  readonly hostile: string;
}

void main();
