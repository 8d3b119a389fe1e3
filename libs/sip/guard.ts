import type { IncomingRequestMessage, UserAgentCore } from 'sip.js/lib/core/index.js';

/** What Core reads with its grammar, whose time grows by the square of a line: 16 KiB of Contacts take it 0.7 s. */
const PARSED_LINE =
  /^(?:via|from|to|record-route|call-id|contact|content-type|cseq|(?:www|proxy)-authenticate|refer-to|[vftimcr])[ \t]*:/i;
const PARSED_LIMITS = { line: 2_000, all: 4_000 } as const;

/** @throws Error if Core would need long to read the message. */
export function checkParsedLines(text: string): void {
  const head = text.slice(0, text.indexOf('\r\n\r\n')).replace(/\r\n[ \t]+/g, ' ');
  const lengths = head
    .split('\r\n')
    .flatMap((line, index) => (index === 0 || PARSED_LINE.test(line) ? [line.length] : []));
  if (lengths.some((length) => length > PARSED_LIMITS.line)) throw new Error('header line over 2,000 characters');
  if (lengths.reduce((sum, length) => sum + length, 0) > PARSED_LIMITS.all)
    throw new Error('headers over 4,000 characters');
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
 * A request of a known dialog, with our Contact as its target. Core answers 404 or 416 to those whose Request-URI has
 * another user or the scheme `sips:`, so that the BYE of such a far side would be refused.
 */
export function withOwnTarget(core: UserAgentCore, message: IncomingRequestMessage): IncomingRequestMessage {
  const dialog = `${message.callId}${message.toTag}${message.fromTag}`;
  if (core.dialogs.has(dialog)) message.ruri = core.configuration.contact.uri;
  return message;
}

/** Also of text that cannot be parsed. */
export const isFinalAnswerToInvite = (text: string): boolean =>
  /^SIP\/2\.0 [2-6]\d\d/.test(text) && /^cseq[ \t]*:[ \t]*\d+[ \t]+INVITE/im.test(text);
