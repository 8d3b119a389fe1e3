import { OutboundClient } from '../../../outbound-http/index.js';
import { CallFailure } from '../../timeline/failure.js';
import { Peer, type PeerMessage } from './peer.js';

/** An end that asks for the work of another one. Messages are copied, as between threads. */
function askingFor(work: (...args: never[]) => unknown): Peer {
  const to = (other: () => Peer) => (message: PeerMessage) => {
    const copy = structuredClone(message);
    setImmediate(() => other().receive(copy));
  };
  const asking: Peer = new Peer(to(() => working));
  const working = new Peer(
    to(() => asking),
    work,
  );
  return asking;
}

const errorOf = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error);
type Ask = (text: string) => Promise<number>;

describe('Peer', () => {
  it('gets an answer from the other end, which may call functions among the arguments before', async () => {
    const peer = askingFor((texts: string[], { ledger: { length } }: { ledger: { length: Ask } }) =>
      Promise.all(texts.map((text) => length(text))),
    );
    expect(await peer.ask(['a', 'bc'], { ledger: { length: (text: string) => text.length } })).toEqual([1, 2]);
  });

  it('leaves plain data as it is, whatever its names are', async () => {
    const data = {
      name: 'x',
      __proto__: null,
      kept: { type: 'function', id: 0, deep: { deeper: [{ a: 1n }] } },
      none: undefined,
    };
    expect(await askingFor((given: unknown) => given).ask(data)).toEqual({ ...data });
  });

  it('gives the other end a client with the same networks, which looks names up here', async () => {
    const asked: string[] = [];
    const resolve = (hostname: string) => Promise.resolve([asked.push(hostname) > 0 ? '127.0.0.1' : '']);
    const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'], resolve });
    const peer = askingFor((given: { client: OutboundClient }) =>
      given.client.addressesOf('http://agent.example').then((found) => [found, given.client.check('http://10.0.0.1')]),
    );
    expect(await peer.ask({ client })).toEqual([['127.0.0.1'], 'ADDRESS_REFUSED']);
    expect(asked).toEqual(['agent.example']);
  });

  it('throws the error itself that came from this end, and a failure as a failure', async () => {
    const broken = Object.assign(new Error('The database is away'), { code: '57P01' });
    const store = () => Promise.reject(broken);
    expect(await errorOf(askingFor((store: () => unknown) => store()).ask(store))).toBe(broken);
    const refused = () => Promise.reject(new CallFailure('platform_refused', 'no credit'));
    const failure = (await errorOf(askingFor(refused).ask())) as CallFailure;
    expect(failure).toBeInstanceOf(CallFailure);
    expect(failure.failure).toMatchObject({ code: 'platform_refused', retryable: false });
    const deep = () => Promise.reject(Object.assign(new RangeError('too deep'), { code: 'E_DEEP' }));
    expect(await errorOf(askingFor(deep).ask())).toMatchObject({
      name: 'RangeError',
      message: 'too deep',
      code: 'E_DEEP',
    });
  });

  it.each<[string, () => unknown, object]>([
    ['a result that cannot be copied', () => ({ socket: () => 0 }), { name: 'DataCloneError' }],
    ['null', () => AbortSignal.abort(null).throwIfAborted(), { name: 'Error', message: 'null' }],
    ['a text', () => AbortSignal.abort('lost').throwIfAborted(), { message: "'lost'" }],
    [
      'an error with a field that cannot be copied',
      () => Promise.reject(Object.assign(new Error('e'), { kind: Symbol('s'), code: 'E' })),
      { message: 'e', code: 'E' },
    ],
  ])('gets an error from work that ends with %s, and the other end lives', async (_what, work, error) => {
    expect(await errorOf(askingFor(work).ask())).toMatchObject(error);
  });

  it('aborts what it asked for, also after the answer, and throws its own reason', async () => {
    let begun: AbortSignal | undefined;
    const peer = askingFor(({ signal }: { signal: AbortSignal }, waits: boolean) => {
      if (!waits) return void (begun = signal);
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('theirs'))));
    });
    const abort = new AbortController();
    await peer.ask({ signal: abort.signal }, false);
    const waiting = errorOf(peer.ask({ signal: abort.signal }, true));
    expect(begun!.aborted).toBe(false);
    const reason = new Error('given up');
    abort.abort(reason);
    expect(await waiting).toBe(reason);
    expect(begun!.aborted).toBe(true);
    expect(await errorOf(peer.ask({ signal: abort.signal }, false))).toBe(reason);
  });

  it('does not wait for an end that is blocked when it is aborted or closed', async () => {
    const peer = new Peer(() => undefined);
    const abort = new AbortController();
    const [aborted, closed] = [errorOf(peer.ask(abort.signal)), errorOf(peer.ask())];
    const [reason, over] = [new Error('given up'), new Error('over')];
    abort.abort(reason);
    expect(await aborted).toBe(reason);
    peer.close(over);
    expect([await closed, await errorOf(peer.ask())]).toEqual([over, over]);
  });

  it('is settled when it has answered everything', async () => {
    let end: () => void = () => undefined;
    const peer = new Peer(
      () => undefined,
      () => new Promise<void>((resolve) => (end = resolve)),
    );
    peer.receive({ type: 'ask', ask: 1, of: 0, args: [], kept: [] });
    let isSettled = false;
    const settled = peer.settled().then(() => (isSettled = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isSettled).toBe(false);
    end();
    await settled;
  });
});
