/** A process that makes calls, and kills itself when all of them are at a step. It writes each handle to its standard output first. */
import { writeSync } from 'node:fs';
import { type CallHandle, mediaOffer, type SipAddress, SipCall, SipEndpoint } from '../../libs/sip/index.js';
import { connectByTcp } from '../../libs/sip/testing/far-side.js';

export type KilledAt =
  'before INVITE' | 'after INVITE' | 'while it rings' | 'before ACK' | 'after ACK' | 'in the call' | 'at BYE';

export interface CallerInput {
  readonly address: SipAddress;
  readonly calls: number;
  readonly at: KilledAt;
}

async function main({ address, calls, at }: CallerInput): Promise<void> {
  let missing = calls;
  const reached = (step: KilledAt): void => {
    if (step === at && --missing === 0) process.kill(process.pid, 'SIGKILL');
  };
  const wait = (step: KilledAt): Promise<void> => (step === at ? new Promise(() => reached(step)) : Promise.resolve());
  const offer = mediaOffer({ address: '127.0.0.1', port: 40_002, session: 1 });
  const one = async (): Promise<void> => {
    const trace = (direction: string, text: string): void => {
      if (direction === 'sent' && text.startsWith('INVITE')) reached('after INVITE');
      if (direction === 'sent' && text.startsWith('BYE')) reached('at BYE');
    };
    const endpoint = await SipEndpoint.open({ connect: connectByTcp, address, userAgent: 'killed', trace });
    const handle = (stored: CallHandle): Promise<void> => {
      writeSync(1, `${JSON.stringify(stored)}\n`);
      return wait(stored.toTag === undefined ? 'before INVITE' : 'before ACK');
    };
    const call = new SipCall(
      endpoint,
      { target: address, offer },
      { handle, progress: () => reached('while it rings') },
    );
    await call.result;
    await wait('after ACK');
    await new Promise((resolve) => setTimeout(resolve, 500));
    await wait('in the call');
    await call.hangUp();
  };
  for (let index = 0; index < calls; index += 1) void one();
  await new Promise(() => setInterval(() => undefined, 60_000));
}

void main(JSON.parse(process.argv[2]!) as CallerInput);
