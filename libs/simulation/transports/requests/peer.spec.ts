import { CallFailure } from '../../timeline/failure.js';
import { Peer, type PeerMessage, type PeerMethods } from './peer.js';

/** Two ends whose messages are copied, as between threads. */
function ends(here: PeerMethods, there: (asked: () => Peer) => PeerMethods): readonly [Peer, Peer] {
  const to = (other: () => Peer) => (message: PeerMessage) => {
    const copy = structuredClone(message);
    setImmediate(() => other().receive(copy));
  };
  const first: Peer = new Peer(
    to(() => second),
    here,
  );
  const second: Peer = new Peer(
    to(() => first),
    there(() => second),
  );
  return [first, second];
}

const errorOf = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error);

describe('Peer', () => {
  it('gets an answer from the other end, which may ask back before it answers', async () => {
    const [main] = ends({ length: (_signal, text: string) => text.length }, (asked) => ({
      lengths: (_signal, texts: string[]) => Promise.all(texts.map((text) => asked().ask('length', [text]))),
    }));
    expect(await main.ask('lengths', [['a', 'bc']])).toEqual([1, 2]);
  });

  it('throws the error itself that came from this end, and a failure as a failure', async () => {
    const broken = Object.assign(new Error('The database is away'), { code: '57P01' });
    const [main] = ends(
      {
        store: () => Promise.reject(broken),
      },
      (asked) => ({
        place: () => asked().ask('store'),
        refuse: () => Promise.reject(new CallFailure('platform_refused', 'no credit')),
        fail: () => Promise.reject(Object.assign(new RangeError('too deep'), { code: 'E_DEEP' })),
      }),
    );
    expect(await errorOf(main.ask('place'))).toBe(broken);
    const refused = (await errorOf(main.ask('refuse'))) as CallFailure;
    expect(refused).toBeInstanceOf(CallFailure);
    expect(refused.failure).toMatchObject({ code: 'platform_refused', retryable: false });
    expect(await errorOf(main.ask('fail'))).toMatchObject({ name: 'RangeError', message: 'too deep', code: 'E_DEEP' });
    expect(await errorOf(main.ask('unknown'))).toMatchObject({ name: 'TypeError' });
  });

  it('aborts what it asked for, also after the answer, and throws its own reason', async () => {
    let signal: AbortSignal | undefined;
    const [main] = ends({}, () => ({
      wait: (given) => new Promise((_, reject) => given.addEventListener('abort', () => reject(new Error('theirs')))),
      begin: (given) => void (signal = given),
    }));
    const abort = new AbortController();
    await main.ask('begin', [], abort.signal);
    const waiting = errorOf(main.ask('wait', [], abort.signal));
    expect(signal!.aborted).toBe(false);
    const reason = new Error('given up');
    abort.abort(reason);
    expect(await waiting).toBe(reason);
    expect(signal!.aborted).toBe(true);
    expect(await errorOf(main.ask('begin', [], abort.signal))).toBe(reason);
  });

  it('does not wait for an end that is blocked when it is aborted or closed', async () => {
    const peer = new Peer(() => undefined, {});
    const abort = new AbortController();
    const aborted = errorOf(peer.ask('never', [], abort.signal));
    const closed = errorOf(peer.ask('never'));
    const [reason, over] = [new Error('given up'), new Error('over')];
    abort.abort(reason);
    expect(await aborted).toBe(reason);
    peer.close(over);
    expect([await closed, await errorOf(peer.ask('late'))]).toEqual([over, over]);
  });

  it('is settled when it has answered everything', async () => {
    let end: () => void = () => undefined;
    const [main, thread] = ends({}, () => ({ work: () => new Promise<void>((resolve) => (end = resolve)) }));
    const working = main.ask('work');
    await new Promise((resolve) => setImmediate(resolve));
    let isSettled = false;
    const settled = thread.settled().then(() => (isSettled = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isSettled).toBe(false);
    end();
    await Promise.all([settled, working]);
  });
});
