import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type AnswerStamp, startReferenceAgent } from '../simulators/agent/index.js';
import { TODAY, VoiceCalls } from '../simulators/agent/testing/voice.js';

type Message = { readonly url: string } | { readonly callSid: string; readonly stamp: AnswerStamp };

/** The reference agent on the telephone in a process of its own, so that its times do not suffer from the tester's work. */
export interface TelephoneAgent {
  readonly url: string;
  /** The agent's own times of its answers so far. */
  stampsOf(callSid: string): readonly AnswerStamp[];
  close(): Promise<void>;
}

/** @param responseMs from the caller's last sound to the answer; by default the agent answers at the end of the turn */
export async function startTelephoneAgent(responseMs?: number): Promise<TelephoneAgent> {
  const flags = ['serve', ...(responseMs === undefined ? [] : [String(responseMs)])];
  const agent = fork(fileURLToPath(import.meta.url), flags, { execArgv: process.execArgv });
  const stamps = new Map<string, AnswerStamp[]>();
  const url = await new Promise<string>((resolve, reject) => {
    agent.once('exit', () => reject(new Error('The agent has ended')));
    agent.on('message', (message: Message) => {
      if ('url' in message) resolve(message.url);
      else stamps.set(message.callSid, [...(stamps.get(message.callSid) ?? []), message.stamp]);
    });
  });
  return {
    url,
    stampsOf: (callSid) => stamps.get(callSid) ?? [],
    close: async () => {
      const exit = once(agent, 'exit');
      agent.disconnect();
      await exit;
    },
  };
}

async function serve(responseMs?: number): Promise<void> {
  const send = (message: Message) => process.connected && process.send?.(message);
  const calls = new VoiceCalls();
  await calls.prepare();
  const server = await startReferenceAgent({
    port: 0,
    telephone: {
      now: () => TODAY,
      prepare: () => calls.prepare(),
      ...(responseMs !== undefined && { responseMs }),
      onAnswer: (callSid, stamp) => void send({ callSid, stamp }),
    },
  });
  process.once('disconnect', () => {
    void Promise.all([server.close(), calls.close()]).then(() => process.exit());
  });
  send({ url: server.url });
}

if (process.argv[2] === 'serve') await serve(process.argv[3] === undefined ? undefined : Number(process.argv[3]));
