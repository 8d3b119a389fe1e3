import type { IncomingRequestMessage, UserAgentCore } from 'sip.js/lib/core/index.js';
import { digitsOf } from './address.js';

/** What Core reads with its grammar. */
const PARSED_LINE =
  /^(?:via|from|to|record-route|call-id|contact|content-type|cseq|(?:www|proxy)-authenticate|refer-to|[vftimcr])[ \t]*:/i;
/** A grammar that tries many alternatives: 4,000 characters of parameters, addresses or quoted words take it 25 to 100 ms. */
const PARSED_LIMITS = { line: 1_500, all: 2_500, parts: 400 } as const;
const PART = /[;&?<> \t]/g;
/** What begins an alternative that is read several times, and counts as ten parts. */
const LONG_PART = /[,[\]"]/g;

/** @throws Error if Core would need over 20 ms to read the message, or a share of that. */
export function checkParsedLines(text: string, share = 1): void {
  const head = text.slice(0, text.indexOf('\r\n\r\n')).replace(/\r\n[ \t]+/g, ' ');
  const parsed = head.split('\r\n').filter((line, index) => index === 0 || PARSED_LINE.test(line));
  if (parsed.some((line) => line.length > share * PARSED_LIMITS.line))
    throw new Error('header line over 1,500 characters');
  const all = parsed.join('');
  if (all.length > share * PARSED_LIMITS.all) throw new Error('headers over 2,500 characters');
  const count = (part: RegExp): number => all.match(part)?.length ?? 0;
  if (count(PART) + 10 * count(LONG_PART) > share * PARSED_LIMITS.parts) throw new Error('headers of over 400 parts');
}

/** The methods that are answered. Others, as UPDATE, get 405 from Core. */
export const ALLOW = 'Allow: INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, REFER, NOTIFY, MESSAGE';

/** Whether Core may read a request. One that requires an extension is answered here, with 420. */
export function guardRequest(core: UserAgentCore, message: IncomingRequestMessage): boolean {
  const { method } = message;
  const required = message.getHeaders('require').filter((tags) => tags.trim() !== '');
  if (required.length > 0 && method !== 'ACK' && method !== 'CANCEL') {
    core.replyStateless(message, { statusCode: 420, extraHeaders: [`Unsupported: ${required.join(', ')}`] });
    return false;
  }
  return true;
}

/**
 * A request of a known dialog, or to this number, with our Contact as its target. Core answers 404 or 416 to those whose
 * Request-URI has another user or the scheme `sips:`, so that the BYE of such a far side would be refused.
 */
export function withOwnTarget(
  core: UserAgentCore,
  message: IncomingRequestMessage,
  number: string | undefined,
): IncomingRequestMessage {
  const dialog = `${message.callId}${message.toTag}${message.fromTag}`;
  const isNumber = number !== undefined && digitsOf(message.ruri?.user ?? '') === digitsOf(number);
  if (core.dialogs.has(dialog) || isNumber) message.ruri = core.configuration.contact.uri;
  return message;
}

/** Also of text that cannot be parsed. */
export const isFinalAnswerToInvite = (text: string): boolean =>
  /^SIP\/2\.0 [2-6]\d\d/.test(text) && /^cseq[ \t]*:[ \t]*\d+[ \t]+INVITE/im.test(text);
