import type { IncomingRequestMessage, UserAgentCore } from 'sip.js/lib/core/index.js';

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
