import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { EVALUATION_KEYS, type ReferenceAgentServer, startReferenceAgent } from '../simulators/agent/index.js';
import {
  type PreparedVoice,
  type RealtimeCell,
  RealtimeCells,
  TODAY,
  VoiceCalls,
  type WordPlatform,
} from '../simulators/agent/testing/voice.js';
import { VOICE_ROWS, type VoiceRow } from './realtime-rows.js';

/** Understands the callers of the evaluations for the telephone. */
const TELEPHONE = 'voice';
type Urls = Readonly<Record<string, string>>;

/** Reference agents on a platform in a process of their own: one for each understanding of its caller. */
export interface RealtimeAgents {
  /** Where the agent with the fault of a call, or that of a row of the matrix, answers; over ElevenLabs and Vapi without the fault. */
  urlOf(called: RealtimeCell | VoiceRow): string;
  close(): Promise<void>;
}

const isRow = (called: RealtimeCell | VoiceRow): called is VoiceRow => 'group' in called;

function serverOf(called: RealtimeCell | VoiceRow): string {
  if (isRow(called)) return `row ${VOICE_ROWS.indexOf(called)}`;
  return called.about === 'words' ? called.key : TELEPHONE;
}

export async function startRealtimeAgents(
  called: readonly (RealtimeCell | VoiceRow)[],
  platform: WordPlatform = 'openai-realtime',
): Promise<RealtimeAgents> {
  const names = new Set(called.map(serverOf));
  const agent = fork(fileURLToPath(import.meta.url), ['serve', platform, ...names], { execArgv: process.execArgv });
  const urls = await new Promise<Urls>((resolve, reject) => {
    agent.once('exit', () => reject(new Error('The agent has ended')));
    agent.once('message', (message: Urls) => resolve(message));
  });
  return {
    urlOf: (one) => {
      const url = urls[serverOf(one)]!.replace(/^http/, 'ws');
      if (platform === 'pipecat') return `${url}/agents/{assistantId}/ws-client`;
      if (platform !== 'openai-realtime') return urls[serverOf(one)]!;
      const fault = isRow(one) ? undefined : one.fault;
      return `${url}/v1/realtime?model=booking:${fault ?? 'healthy'}`;
    },
    close: async () => {
      const exit = once(agent, 'exit');
      agent.disconnect();
      await exit;
    },
  };
}

async function serve([platform, ...names]: readonly string[]): Promise<void> {
  const calls = new VoiceCalls();
  const cells = new RealtimeCells(calls);
  const preparedFor = (name: string): Promise<PreparedVoice> => {
    const key = EVALUATION_KEYS.find((one) => one === name);
    if (key) return cells.preparedFor(key);
    return VOICE_ROWS.find((row) => serverOf(row) === name)?.agent(calls) ?? calls.prepare();
  };
  const urls: Record<string, string> = {};
  const servers: ReferenceAgentServer[] = [];
  for (const name of names) {
    const prepared = await preparedFor(name);
    const service = { now: () => TODAY, prepare: () => Promise.resolve(prepared) };
    const as = { [platform === 'openai-realtime' ? 'realtime' : platform!]: service };
    const server = await startReferenceAgent({ port: 0, ...as });
    servers.push(server);
    urls[name] = server.url;
  }
  process.once('disconnect', () => {
    void Promise.all([...servers.map((server) => server.close()), calls.close()]).then(() => process.exit());
  });
  process.send?.(urls);
}

const [command, ...rest] = process.argv.slice(2);
if (command === 'serve') await serve(rest);
