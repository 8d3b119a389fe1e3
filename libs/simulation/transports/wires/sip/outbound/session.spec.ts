import { retellRecord } from '../../../../../../test/simulators/retell/records.js';
import { vapiRecord } from '../../../../../../test/simulators/vapi/records.js';
import { ANSWER } from '../../../../../sip/testing/far-side.js';
import type { CallFailure } from '../../../../timeline/failure.js';
import type { CallSignal } from '../../../../voice/wire/signalling.js';
import type { AgentEndpoint } from '../../../modules/endpoint.js';
import { sip } from '../index.js';
import { THEIRS, TrunkSide } from './testing/trunk-side.js';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function world(given: Partial<AgentEndpoint> | ((platforms: string) => Partial<AgentEndpoint>) = {}) {
  const side = await TrunkSide.open();
  open.push(side);
  const endpoint = typeof given === 'function' ? given(side.platforms.url) : given;
  const session = sip.session(side.endpoint(endpoint), side.call);
  open.push({ close: () => session.hangUp?.() });
  const signals: CallSignal[] = [];
  const { signal } = new AbortController();
  const dial = () =>
    session.dial({
      ...{ signal, onStep: () => undefined, onSignal: (one) => signals.push(one) },
      bindMedia: () => Promise.resolve(40_100),
    });
  const tag = async () => /tag=(\w+)/.exec((await side.farSide.until('200')).header('To'))?.[1] ?? '';
  const types = () =>
    signals.map(({ message }) => (message as { type: string }).type).filter((type) => type !== 'message');
  return { side, session, dial, tag, types };
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: CallFailure) => error.failure,
  );
const untilHas = async (read: () => readonly string[], wanted: string) => {
  for (let tries = 0; tries < 200 && !read().includes(wanted); tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 10));
  return read();
};

describe('the session of an agent that calls', () => {
  it('answers with its own ports, knows where the agent receives, and can be ended from any process', async () => {
    const { side, session, dial, tag } = await world();
    side.platforms.onCall = () => side.invite();
    const { media, state } = await dial();
    expect(media).toMatchObject({ expected: [{ address: '127.0.0.1', port: 40_000 }, { address: '127.0.0.1' }] });
    expect(state.secrets).toContain('secret');
    const answer = await side.farSide.until('200');
    expect(answer.text).toContain('m=audio 40100 RTP/AVP 0');
    expect(side.placed.at(-1)).toMatchObject({
      call: { callId: 'call-1', fromTag: await tag() },
      credentials: { user: 'me' },
    });
    side.request('ACK', { toTag: await tag() });
    const ending = session.hangUp!();
    await side.farSide.until('BYE');
    await ending;
    expect((await side.farSide.until('REGISTER', 2)).header('Expires')).toBe('0');
    expect(side.placed.at(-1)).toMatchObject({ ended: true });
  });

  it('reports the BYE of the agent, and the end of the connection', async () => {
    const { side, dial, tag, types } = await world();
    side.platforms.onCall = () => side.invite();
    await dial();
    side.request('ACK', { toTag: await tag() });
    side.request('BYE', { toTag: await tag() });
    expect(await untilHas(types, 'ended')).toContain('ended');
    side.farSide.sockets.at(-1)?.destroy();
    expect(await untilHas(types, 'disconnected')).toContain('disconnected');
  });

  it('takes a call whose INVITE has no description, which comes with its ACK', async () => {
    const { side, dial, tag } = await world();
    side.platforms.onCall = () => side.invite({ body: '' });
    const dialled = dial();
    const toTag = await tag();
    side.request('ACK', { toTag, body: ANSWER });
    expect((await dialled).media).toMatchObject({ expected: [{ port: 40_000 }, {}] });
  });

  it.each([
    ['vapi', 'vapi', vapiRecord],
    ['retell', 'retell', retellRecord],
    ['a webhook', 'vapi', vapiRecord],
  ] as const)('reads the record of the call that %s has made, by its id', async (by, name, recordOf) => {
    const { side, session, dial, tag } = await world((url) => ({
      phoneNumberId: 'number-1',
      options:
        by === 'a webhook' ? { trigger: `${url}/call-me`, records: `${name}:${url}` } : { trigger: `${name}:${url}` },
    }));
    const tools = [{ id: 't1', name: 'find_table', arguments: {}, result: '{}', startMs: 7_000 }];
    const times = { startedAt: Date.now() - 9_000, endedAt: Date.now() };
    let made = '';
    side.platforms.onCall = ({ id }) => {
      made = by === 'a webhook' ? `own-${id}` : id;
      side.invite();
    };
    side.platforms.recordOf = (id) => recordOf({ ...{ id, agent: 'agent-1', lines: [], tools }, ...times });
    await dial();
    side.request('ACK', { toTag: await tag() });
    const found = await session.recorded!(AbortSignal.timeout(8_000));
    expect(found).toMatchObject({ id: made, toolCalls: [{ name: 'find_table' }] });
  });

  it('reads no record of a platform whose records are not named', async () => {
    for (const trigger of ['https://agent.example.com/call', 'elevenlabs']) {
      expect((await world({ options: { trigger } })).session.recorded).toBeUndefined();
    }
  });

  it('refuses a call without G.711 with 488, and unregisters', async () => {
    const { side, session, dial } = await world();
    side.platforms.onCall = () => side.invite({ body: ANSWER.replace('RTP/AVP 0 96', 'RTP/AVP 9 96') });
    expect(await failureOf(dial())).toMatchObject({ code: 'codec_refused' });
    await side.farSide.until('488');
    await session.hangUp!();
    expect((await side.farSide.until('REGISTER', 2)).header('Expires')).toBe('0');
  });

  it('is an error without blame if the agent gives up before it is answered', async () => {
    const { side, dial } = await world();
    side.platforms.onCall = () => {
      side.invite();
      side.request('CANCEL');
    };
    const failure = await failureOf(dial());
    expect(failure).toMatchObject({ code: 'no_call_came', fault: 'infrastructure' });
    await side.farSide.until('487');
  });

  it.each(['answered', 'asked'] as const)('is ended by its handle when the call was %s', async (state) => {
    const { side, dial, tag } = await world();
    side.platforms.onCall = () => side.invite();
    await dial();
    side.request('ACK', { toTag: await tag() });
    const { client } = side.call;
    const handle = side.placed[state === 'answered' ? 1 : 0]!;
    const { signal } = new AbortController();
    const own = (await side.farSide.until('200')).header('Call-ID');
    await sip.end!(handle, { endpoint: side.endpoint(), client, signal });
    if (state === 'asked') return expect(side.platforms.stopped).toHaveLength(1);
    expect((await side.farSide.until('BYE')).header('Call-ID')).toBe(own);
    expect((await side.farSide.until('BYE')).header('To')).toContain(THEIRS);
  });
});
