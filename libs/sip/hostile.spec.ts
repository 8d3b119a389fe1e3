import fc from 'fast-check';
import { shareOf } from '../statistics/testing/sample.js';
import { SipCall } from './call.js';
import { SipEndpoint } from './endpoint.js';
import { mediaOffer } from './sdp.js';
import { ANSWER, CONTACT, FarSide, type Received, requestIn } from './testing/far-side.js';

const OFFER = mediaOffer({ address: '127.0.0.1', port: 40_002, session: 7 });
const PIECES = [
  '\r\n',
  ' ',
  ';',
  '<',
  '>',
  '"',
  '%',
  '\0',
  '@',
  ':',
  ',',
  '=',
  '0',
  '99999999999',
  'sips:',
  '*',
  'ä',
  ';tag=',
  '\r\n X: y',
];

/** Changes of a text: a part is removed, doubled, replaced by something that SIP reads in a special way, or cut off. */
const changes = fc.array(
  fc.record({ at: fc.nat(1_500), length: fc.nat(40), piece: fc.constantFrom('', '', ...PIECES), twice: fc.boolean() }),
  { minLength: 1, maxLength: 4 },
);

function changed(text: string, mutation: { at: number; length: number; piece: string; twice: boolean }[]): string {
  return mutation.reduce((current, { at, length, piece, twice }) => {
    const start = at % (current.length + 1);
    const removed = current.slice(start, start + length);
    return current.slice(0, start) + piece + (twice ? removed + removed : '') + current.slice(start + length);
  }, text);
}

/** The length is put right, so that the message reaches the parser. */
function framed(text: string): string {
  const [head = '', body = ''] = text.split(/\r\n\r\n(.*)/s);
  const lines = head.split('\r\n').filter((line) => !/^(content-length|l)[ \t]*:/i.test(line));
  return [...lines.slice(0, 60), `Content-Length: ${Buffer.byteLength(body)}`, '', body].join('\r\n');
}

const messagesFor = (invite: Received): string[] => [
  invite.reply('180 Ringing', [CONTACT]),
  invite.reply('183 Session Progress', [CONTACT], ANSWER),
  invite.reply('200 OK', [CONTACT, 'Record-Route: <sip:10.0.0.1;lr>'], ANSWER),
  invite.reply('401 Unauthorized', ['WWW-Authenticate: Digest realm="r", nonce="n", qop="auth", algorithm=MD5']),
  invite.reply('503 Service Unavailable', ['Retry-After: 10', 'Warning: 399 x "y"', 'Reason: Q.850;cause=1;text="z"']),
  ...['BYE', 'INFO', 'OPTIONS', 'CANCEL', 'ACK', 'UPDATE', 'NOTIFY', 'MESSAGE', 'SUBSCRIBE', 'REGISTER', 'PRACK'].map(
    (method, index) => requestIn(invite, method, index + 1, [CONTACT]),
  ),
  requestIn(invite, 'INVITE', 30, [CONTACT], ANSWER),
  requestIn(invite, 'REFER', 40, [CONTACT, 'Refer-To: <sip:a@b>', 'Require: x']),
];

// sip.js alone throws for some of these messages, and its api layer leaves unhandled rejections.
it('survives 20,000 mutated messages without an uncaught error, and gives each call a result', async () => {
  const uncaught: unknown[] = [];
  const note = (error: unknown): void => void uncaught.push(error);
  process.on('unhandledRejection', note).on('uncaughtException', note);
  let received = 0;
  for (let seed = 1; received < shareOf(20_000); seed += 1) {
    const mutations = fc.sample(changes, { numRuns: 60, seed });
    const farSide = await FarSide.open((request, _send, socket) => {
      if (request.method !== 'INVITE') return;
      const all = messagesFor(request);
      mutations.forEach((mutation, index) => socket.write(framed(changed(all[index % all.length] ?? '', mutation))));
      socket.end();
    });
    const trace = (direction: string): void => void (direction === 'received' && (received += 1));
    const endpoint = await SipEndpoint.open({ ...farSide.options, credentials: { user: 'u', password: 'p' }, trace });
    const call = new SipCall(endpoint, { target: farSide.address, offer: OFFER });
    const result = await call.result;
    expect('media' in result || 'failure' in result).toBe(true);
    endpoint.close();
    await farSide.close();
  }
  process.off('unhandledRejection', note).off('uncaughtException', note);
  expect(uncaught).toEqual([]);
});
