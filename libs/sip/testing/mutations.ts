import fc from 'fast-check';
import { ANSWER, CONTACT, type Received, requestIn } from './far-side.js';

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
  // Long at the limits of the guard, and beyond them.
  ';a=b'.repeat(180),
  ';a'.repeat(400),
  '<sip:a>,'.repeat(25),
  'sip:a,'.repeat(38),
  '[::1]'.repeat(15),
  'a '.repeat(380),
  '%41'.repeat(450),
  'a.'.repeat(600),
  '"a" '.repeat(16),
  `"${'a:'.repeat(600)}`,
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

/** What is said in the call that an INVITE begins, before it is changed. */
export const messagesFor = (invite: Received): string[] => [
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

/** Changes of messages, the same ones for a seed. */
export const mutationsOf = (seed: number, count: number) => fc.sample(changes, { numRuns: count, seed });

/** One of the messages in turn for each of the changes, changed, and of the length that it says. */
export function mutated(invite: Received, mutations: ReturnType<typeof mutationsOf>): string[] {
  const all = messagesFor(invite);
  return mutations.map((mutation, index) => framed(changed(all[index % all.length] ?? '', mutation)));
}
