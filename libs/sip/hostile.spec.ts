import { shareOf } from '../statistics/testing/sample.js';
import { SipCall } from './call.js';
import { readMessage, SipEndpoint } from './endpoint.js';
import { mediaOffer } from './sdp.js';
import { CONTACT, FarSide } from './testing/far-side.js';
import { messagesFor, mutated, mutationsOf } from './testing/mutations.js';

const OFFER = mediaOffer({ address: '127.0.0.1', port: 40_002, session: 7 });
/** The least processor time of some repetitions, so that other processes do not count. */
function readingMs(text: string): number {
  const times = Array.from({ length: 7 }, () => {
    const start = performance.now();
    try {
      readMessage(text);
    } catch {
      // Refused.
    }
    return performance.now() - start;
  });
  return Math.min(...times);
}

// sip.js alone throws for some of these messages, and its api layer leaves unhandled rejections.
it('survives 20,000 mutated messages without an uncaught error, and gives each call a result, and reads no message for long', async () => {
  const uncaught: unknown[] = [];
  const note = (error: unknown): void => void uncaught.push(error);
  process.on('unhandledRejection', note).on('uncaughtException', note);
  let received = 0;
  let ordinary = '';
  /** Each message until the next one, or the end of what came at once. */
  const times: { text: string; ms: number }[] = [];
  let reading: { text: string; since: number } | undefined;
  const read = (text?: string): void => {
    const now = performance.now();
    if (reading !== undefined) times.push({ text: reading.text, ms: now - reading.since });
    reading = text === undefined ? undefined : { text, since: now };
  };
  for (let seed = 1; received < shareOf(20_000); seed += 1) {
    const mutations = mutationsOf(seed, 60);
    const farSide = await FarSide.open((request, _send, socket) => {
      if (request.method !== 'INVITE') return;
      ordinary = messagesFor(request)[2] ?? '';
      for (const text of mutated(request, mutations)) socket.write(text);
      socket.end();
    });
    const trace = (direction: string, text: string): void => {
      if (direction !== 'received') return;
      received += 1;
      if (reading === undefined) queueMicrotask(() => read());
      read(text);
    };
    const endpoint = await SipEndpoint.open({ ...farSide.options, credentials: { user: 'u', password: 'p' }, trace });
    const call = new SipCall(endpoint, { target: farSide.address, offer: OFFER });
    const result = await call.result;
    expect('media' in result || 'failure' in result).toBe(true);
    endpoint.close();
    await farSide.close();
  }
  process.off('unhandledRejection', note).off('uncaughtException', note);
  expect(uncaught).toEqual([]);
  const slowest = times
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, 20)
    .map(({ text }) => readingMs(text));
  // An ordinary message takes about 1 ms.
  expect(Math.max(...slowest) / readingMs(ordinary)).toBeLessThan(20);
}, 600_000);

// The grammar of Core needs up to 100 ms for such lines.
it.each([
  ['many parameters', `Contact: <sip:a@b>${';a'.repeat(700)}`],
  ['many addresses', `Contact: ${'sip:a,'.repeat(200)}<sip:a>`],
  ['many routes', `Record-Route: ${'<sip:a;lr>,'.repeat(100)}<sip:b>`],
  ['many IPv6 addresses', `Contact: <sip:a@b>${';a=[::1]'.repeat(150)}`],
  ['a long quoted name', `Contact: "${'a:'.repeat(1_800)}" <sip:a>`],
  ['a long challenge where none is expected', `WWW-Authenticate: Digest realm="${'a'.repeat(3_500)}", nonce="a"`],
])('does not let Core read a message with %s', (_, line) => {
  const text = (lines: string[]): string =>
    [
      'SIP/2.0 200 OK',
      'Via: SIP/2.0/TCP 127.0.0.1:5060;branch=z9hG4bKa',
      'From: <sip:a@b>;tag=x',
      'To: <sip:c@d>;tag=y',
      'Call-ID: a',
      'CSeq: 1 INVITE',
      ...lines,
      'Content-Length: 0',
      '',
      '',
    ].join('\r\n');
  expect(readingMs(text([line, line])) / readingMs(text([CONTACT]))).toBeLessThan(10);
});
