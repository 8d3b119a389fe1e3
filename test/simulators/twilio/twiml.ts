import { createHmac, timingSafeEqual } from 'node:crypto';

/** Answers the webhook: the call's audio goes to `streamUrl`, and `action` is requested after the stream has ended. */
export const connectStream = (streamUrl: string, action: string): string =>
  response(`<Connect action="${escape(action)}"><Stream url="${escape(streamUrl)}"/></Connect>`);

export const dial = (phoneNumber: string): string => response(`<Dial>${escape(phoneNumber)}</Dial>`);

export const HANG_UP = '<?xml version="1.0" encoding="UTF-8"?><Response><Hangup/></Response>';

const response = (verbs: string): string => `<?xml version="1.0" encoding="UTF-8"?><Response>${verbs}</Response>`;

const escape = (text: string): string =>
  text.replace(/[&<>"]/g, (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[char] ?? char);

/**
 * Whether `X-Twilio-Signature` is right: base64 of HMAC-SHA1 under the auth token over the URL, followed by names and values
 * of the form in order of the names. See https://www.twilio.com/docs/usage/security#validating-requests.
 */
export function isSignedByTwilio(
  authToken: string,
  url: string,
  form: ReadonlyMap<string, string>,
  signature: string | undefined,
): boolean {
  const fields = [...form].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([name, value]) => name + value);
  const right = createHmac('sha1', authToken)
    .update(url + fields.join(''))
    .digest();
  const given = Buffer.from(signature ?? '', 'base64');
  return given.length === right.length && timingSafeEqual(given, right);
}
