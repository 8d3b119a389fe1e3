import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type AnswerStamp, startReferenceAgent } from '../simulators/agent/index.js';
import { TODAY, VoiceCalls } from '../simulators/agent/testing/voice.js';
import { SipGateway } from '../simulators/sip/gateway.js';
import type { RtpLineOptions } from '../simulators/sip/rtp-line.js';

type Message = { readonly url: string } | { readonly callId: string; readonly stamp: AnswerStamp };

/** The reference agent on the telephone in a process of its own, so that its times do not suffer from the tester's work. */
export interface TelephoneAgent {
  /** Of the server; behind SIP, of its agent `AGENT`. */
  readonly url: string;
  /** The agent's own times of its answers so far. */
  stampsOf(callId: string): readonly AnswerStamp[];
  close(): Promise<void>;
}

export interface TelephoneOptions {
  /** From the caller's last sound to the answer; by default the agent answers at the end of the turn. */
  readonly responseMs?: number;
  /** Puts the agent behind SIP over such a line. */
  readonly sip?: RtpLineOptions;
}

export async function startTelephoneAgent(options: TelephoneOptions = {}): Promise<TelephoneAgent> {
  const flags = ['serve', JSON.stringify(options)];
  const agent = fork(fileURLToPath(import.meta.url), flags, { execArgv: process.execArgv });
  const stamps = new Map<string, AnswerStamp[]>();
  const url = await new Promise<string>((resolve, reject) => {
    agent.once('exit', () => reject(new Error('The agent has ended')));
    agent.on('message', (message: Message) => {
      if ('url' in message) resolve(message.url);
      else stamps.set(message.callId, [...(stamps.get(message.callId) ?? []), message.stamp]);
    });
  });
  return {
    url,
    stampsOf: (callId) => stamps.get(callId) ?? [],
    close: async () => {
      const exit = once(agent, 'exit');
      agent.disconnect();
      await exit;
    },
  };
}

async function serve({ responseMs, sip }: TelephoneOptions): Promise<void> {
  const send = (message: Message) => process.connected && process.send?.(message);
  const calls = new VoiceCalls();
  await calls.prepare();
  const server = await startReferenceAgent({
    port: 0,
    telephone: {
      now: () => TODAY,
      prepare: () => calls.prepare(),
      ...(responseMs !== undefined && { responseMs }),
      onAnswer: (callId, stamp) => void send({ callId, stamp }),
    },
  });
  const gateway = sip && (await SipGateway.start(server.url, sip));
  process.once('disconnect', () => {
    gateway?.close();
    void Promise.all([server.close(), calls.close()]).then(() => process.exit());
  });
  send({ url: gateway?.urlOf('AGENT') ?? server.url });
}

if (process.argv[2] === 'serve') await serve(JSON.parse(process.argv[3]!) as TelephoneOptions);
