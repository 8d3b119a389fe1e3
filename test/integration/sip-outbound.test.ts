import { setTimeout as sleep } from 'node:timers/promises';
import { OutboundClient } from '../../libs/outbound-http/index.js';
import { calledBack } from '../../libs/simulation/testing/outbound.js';
import { CallFailure } from '../../libs/simulation/index.js';
import { type CallHandle, end } from '../../libs/sip/index.js';
import { connectByTcp } from '../../libs/sip/testing/far-side.js';
import { OutboundPlatforms } from '../simulators/outbound/server.js';
import { describeWith } from '../support/programs.js';
import { until } from '../support/until.js';
import { callBySipp, startTrunk, type Trunk } from '../support/trunk.js';

const AGENT = '+4930900001';
const FROM = `<sip:${AGENT}@carrier.example>`;
const ROUNDS = 4;
const numbers = Array.from({ length: 5 }, (_, index) => `+493010000${index + 1}`);

describeWith(['kamailio', 'sipp'], 'an agent that calls over a trunk', () => {
  let trunk: Trunk;
  let platforms: OutboundPlatforms;

  beforeAll(async () => {
    trunk = await startTrunk();
    platforms = await OutboundPlatforms.start();
  });
  afterAll(async () => {
    await platforms.stop();
    await trunk.stop();
  });

  const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
  /** Waits for a call at the number, answers it, and ends with it. @returns the number of From */
  async function answered(
    number: string,
    attempt: string,
    {
      password = 'secret',
      onAnswer = () => undefined,
      over,
    }: { password?: string; onAnswer?: (handle: CallHandle) => void; over?: Promise<void> } = {},
  ): Promise<string> {
    const account = { trunk: `sip:127.0.0.1:${trunk.port}`, user: number.slice(1), password, number };
    const endpoint = { protocol: 'sip', url: account.trunk, headers: {}, firstSpeaker: null };
    const answersAt = { account, expect: () => Promise.resolve() };
    const back = await calledBack(
      { ...endpoint, options: { trigger: `${platforms.url}/call-me` } },
      { client, workspaceId: 'w', assistantId: 'a', phoneNumber: AGENT, callId: attempt, answersAt },
      {
        connect: connectByTcp,
        userAgent: 'test',
        signal: new AbortController().signal,
        failed: ({ failure, reason }) => new CallFailure('platform_refused', `${failure}: ${reason}`),
        expectedMs: 10_000,
      },
    );
    await new Promise<void>((ended) => {
      back.incoming.answer({ address: '127.0.0.1', port: 40_000, session: 1 }, { ended: () => ended() });
      void over?.then(ended);
      onAnswer(back.incoming.handle);
    });
    await back.end();
    return /sip:([^@]*)@/.exec(back.incoming.from)?.[1] ?? '';
  }

  it('takes 20 calls at 5 numbers, and refuses 10 strays and 5 calls that are late', async () => {
    const asked: Promise<string | undefined>[] = [];
    const strays: Promise<string | undefined>[] = [];
    platforms.onCall = ({ to, id }) => {
      // Half of the calls have a stray just before them, half of which are of a number that looks like the right one.
      const round = Number(id.split('-')[1]);
      if (round % 2 === 0) {
        const from =
          Number(to.at(-1)) % 2 === 0 ? '<sip:+4930777777@carrier.example>' : `<sip:${AGENT}0@carrier.example>`;
        strays.push(callBySipp(trunk, { to, from, outcome: 486 }));
      }
      asked.push(sleep(200).then(() => callBySipp(trunk, { to, from: FROM, outcome: 'answered' })));
    };
    const answeredBy: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      answeredBy.push(...(await Promise.all(numbers.map((number) => answered(number, `round-${round}`)))));
    }
    const late = numbers.map((to) => callBySipp(trunk, { to, from: FROM, outcome: 404 }));
    expect(answeredBy).toEqual(Array.from({ length: 20 }, () => AGENT));
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 20 }, () => undefined));
    expect(await Promise.all(strays)).toEqual(Array.from({ length: 10 }, () => undefined));
    expect(await Promise.all(late)).toEqual(Array.from({ length: 5 }, () => undefined));
  });

  it('withholds its number, and is taken all the same', async () => {
    const calls: Promise<string | undefined>[] = [];
    const from = '"Anonymous" <sip:anonymous@anonymous.invalid>';
    platforms.onCall = ({ to }) => void calls.push(callBySipp(trunk, { to, from, outcome: 'answered' }));
    expect(await answered(numbers[0]!, 'anonymous')).toBe('anonymous');
    expect(await Promise.all(calls)).toEqual([undefined]);
  });

  it('is hung up from another process by the handle of its call', async () => {
    const calls: Promise<string | undefined>[] = [];
    platforms.onCall = ({ to }) => void calls.push(callBySipp(trunk, { to, from: FROM, outcome: 'ended' }));
    let handle: CallHandle | undefined;
    let hangUp: () => void = () => undefined;
    const over = new Promise<void>((resolve) => (hangUp = resolve));
    const talk = answered(numbers[1]!, 'ended', { over, onAnswer: (one) => (handle = one) });
    await until('the call was answered', () => handle !== undefined);
    await sleep(300);
    expect(await end({ connect: connectByTcp, userAgent: 'another', address: handle!.address }, handle!)).toBe('ended');
    hangUp();
    await talk;
    expect(await Promise.all(calls)).toEqual([undefined]);
  });

  it('is not asked to call if the trunk refuses the password', async () => {
    platforms.requests.length = 0;
    await expect(answered(numbers[0]!, 'refused', { password: 'wrong' })).rejects.toMatchObject({
      failure: { code: 'platform_refused' },
    });
    expect(platforms.requests).toEqual([]);
  });
});
