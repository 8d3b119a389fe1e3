import { Grammar } from 'sip.js/lib/core/index.js';

const ADDRESS_LINE = /^(?:from|to|contact|record-route|refer-to|[ftmr])[ \t]*:/i;
const VIA_HOST = /^((?:via|v)[ \t]*:\s*SIP\s*\/\s*2\.0\s*\/\s*\w+\s+)([^\s:;,[\]]+)/i;
/** Of a header line, and addresses in it and in a message: the grammar is slow. */
const LONGEST = 400;
const MOST = 4;
const MOST_IN_ALL = 12;
const UNQUOTED = /(^|,)\s*([^\s<>",][^<>",]*)</g;
/** Of a part that Core cannot read: its bytes, between marks that the grammar takes in a user and in a host. */
const STAND_IN = /(?:sip:(?=odd-(?:736970|74656c)))?odd-((?:[0-9a-f]{2})+)-odd/g;
/** What a stand-in may stand for: nothing that begins another header. */
const PART = /^[^\s<>\p{Cc}]+$/u;

/**
 * A message in which Core changes nothing of their Contact, to which ACK and BYE go: its grammar knows fewer users, and writes
 * parameters in its own way. Stand-ins take the place of what is refused or changed; {@link original} undoes them.
 */
export const withExactContact = (text: string): string => text.replace(/^(?:contact|m)[ \t]*:.*$/im, readableLine);

/**
 * A message that Core cannot read, in a form that it reads: names of containers as hosts (SIP.js#737, JsSIP#938), `#` in users
 * (JsSIP#687), names without quotes, routes without brackets (SIP.js#319), brackets in the reason (SIP.js#996).
 */
export function readable(text: string): string {
  const end = text.indexOf('\r\n\r\n');
  const head = text.slice(0, end).replace(/\r\n[ \t]+/g, ' ');
  if (head.split('<').length > MOST_IN_ALL) return text;
  const [first = '', ...lines] = head.split('\r\n');
  const [, status, reason = ''] = /^(SIP\/2\.0 \d{3})(.*)$/i.exec(first) ?? [];
  const start = status === undefined ? first : `${status} ${reason.replace(/[^\p{L}\p{N}',./:;-]+/gu, ' ').trim()}`;
  return [start, ...lines.map(readableLine)].join('\r\n') + text.slice(end);
}

/** As the other side wrote it. */
export const original = (text: string): string =>
  text.replace(STAND_IN, (all, hex: string) => {
    const part = Buffer.from(hex, 'hex').toString();
    return PART.test(part) ? part : all;
  });

const standIn = (part: string): string => (PART.test(part) ? `odd-${Buffer.from(part).toString('hex')}-odd` : part);

const isExact = (uri: string): boolean => {
  try {
    return Grammar.URIParse(uri)?.toRaw() === uri;
  } catch {
    // An escape that Core decodes twice.
    return false;
  }
};

const exactHost = (host: string): string => (isExact(`sip:${host}`) ? host : standIn(host));

function readableLine(line: string): string {
  if (line.length > LONGEST || line.split('<').length > MOST) return line;
  if (!ADDRESS_LINE.test(line))
    return line.replace(VIA_HOST, (_, start: string, host: string) => start + exactHost(host));
  const [name = '', value = ''] = line.split(/:(.*)/s);
  const isBare = !value.includes('<') && /^record-route/i.test(name);
  const bracketed = isBare ? value.replace(/[^\s,]+/g, '<$&>') : value;
  const quoted = bracketed.replace(UNQUOTED, (_, start: string, shown: string) => `${start} "${shown.trim()}" <`);
  return `${name}:${quoted.replace(/<([^<>]*)>/g, (_, uri: string) => `<${exactUri(uri)}>`)}`;
}

function exactUri(uri: string): string {
  if (isExact(uri)) return uri;
  const [, scheme, user, host = '', rest = ''] = /^(sips?:)(?:(.*)@)?(\[[^\]]*\]|[^:;?]*)(.*)$/i.exec(uri) ?? [];
  if (scheme === undefined) return `sip:${standIn(uri)}`;
  const exactUser = user === undefined ? '' : `${isExact(`sip:${user}@a`) ? user : standIn(user)}@`;
  const exact = `${scheme}${exactUser}${exactHost(host)}${rest}`;
  return isExact(exact) ? exact : `sip:${standIn(uri)}`;
}
