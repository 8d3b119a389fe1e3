import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import {
  EVALUATION_KEYS,
  type EvaluationKey,
  type ReferenceAgentServer,
  startReferenceAgent,
} from '../../libs/reference-agent/index.js';
import { type RealtimeCell, RealtimeCells, TODAY, VoiceCalls } from '../../libs/reference-agent/testing/voice.js';

/** The callers of the evaluations for the telephone. */
const TELEPHONE = 'voice';
type Urls = Readonly<Record<string, string>>;

/** The reference agent as a Realtime server in a process of its own. */
export interface RealtimeAgent {
  /** Where the agent with the fault of the call understands its caller. */
  urlOf(cell: RealtimeCell): string;
  close(): Promise<void>;
}

/** @param keys text evaluations whose callers it understands, too: a server for each */
export async function startRealtimeAgent(keys: readonly EvaluationKey[]): Promise<RealtimeAgent> {
  const agent = fork(fileURLToPath(import.meta.url), ['serve', ...new Set(keys)], { execArgv: process.execArgv });
  const urls = await new Promise<Urls>((resolve, reject) => {
    agent.once('exit', () => reject(new Error('The agent has ended')));
    agent.once('message', (message: Urls) => resolve(message));
  });
  return {
    urlOf: ({ about, key, fault }) => {
      const url = urls[about === 'words' ? key : TELEPHONE]!.replace(/^http/, 'ws');
      return `${url}/v1/realtime?model=booking:${fault ?? 'healthy'}`;
    },
    close: async () => {
      const exit = once(agent, 'exit');
      agent.disconnect();
      await exit;
    },
  };
}

async function serve(keys: readonly EvaluationKey[]): Promise<void> {
  const calls = new VoiceCalls();
  const cells = new RealtimeCells(calls);
  const urls: Record<string, string> = {};
  const servers: ReferenceAgentServer[] = [];
  for (const key of [TELEPHONE, ...keys] as const) {
    const prepared = key === TELEPHONE ? await calls.prepare() : await cells.preparedFor(key);
    const realtime = { now: () => TODAY, prepare: () => Promise.resolve(prepared) };
    const server = await startReferenceAgent({ port: 0, realtime });
    servers.push(server);
    urls[key] = server.url;
  }
  process.once('disconnect', () => {
    void Promise.all([...servers.map((server) => server.close()), calls.close()]).then(() => process.exit());
  });
  process.send?.(urls);
}

const [command, ...rest] = process.argv.slice(2);
if (command === 'serve') await serve(EVALUATION_KEYS.filter((key) => rest.includes(key)));
