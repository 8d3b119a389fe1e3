import { createHmac } from 'node:crypto';

/**
 * `X-Twilio-Signature`: HMAC-SHA1 under the auth token, in base64, over the address and, for a form, its parameters with names
 * and values appended in order of names (https://www.twilio.com/docs/usage/webhooks/webhooks-security).
 * @param url as Twilio knows it, not as it is dialled
 */
export function twilioSignature(authToken: string, url: string, form: Readonly<Record<string, string>> = {}): string {
  const parameters = Object.keys(form)
    .sort()
    .map((name) => `${name}${form[name]}`);
  return createHmac('sha1', authToken)
    .update(`${url}${parameters.join('')}`, 'utf8')
    .digest('base64');
}

/** The same address with its port written out, or without it; undefined if that is no other address. */
export function otherPortForm(url: string): string | undefined {
  const [, scheme, host, rest] = /^(https?|wss?):\/\/([^/?#]+)(.*)$/is.exec(url) ?? [];
  if (scheme === undefined || host === undefined) return undefined;
  const port = /^(https|wss)$/i.test(scheme) ? 443 : 80;
  const withoutPort = host.replace(/:\d+$/, '');
  return `${scheme}://${withoutPort === host ? `${host}:${port}` : withoutPort}${rest ?? ''}`;
}
