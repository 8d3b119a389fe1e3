import { originOf as originOfSip, parseSipAddress, SipAddressError } from '../../libs/sip/index.js';

export const PLACEHOLDER = /\{(?:assistantId|phoneNumber|callId)\}/g;

/** Whether it is called over SIP, which has addresses of its own grammar. */
export const isSipAddress = (url: string): boolean => /^sips?:/i.test(url);

/** What is wrong with a SIP address with placeholders, as the rest of a sentence about it; undefined if nothing is. */
export function sipViolation(url: string): string | undefined {
  const [, user = '', rest = ''] = /^([^]*@)?([^]*)$/.exec(url) ?? [];
  if (/^sips?:\/\//i.test(url)) return 'must not have slashes after its scheme';
  if (/[{}]/.test(rest)) return 'must have placeholders in its user part only, before the @';
  if (/[{}]/.test(user.replace(PLACEHOLDER, ''))) {
    return 'must have no placeholder except {assistantId}, {phoneNumber} and {callId}';
  }
  try {
    return URL.canParse(httpAddressOf(url)) ? undefined : 'has no valid host';
  } catch (error) {
    if (error instanceof SipAddressError) return error.message;
    throw error;
  }
}

/** Scheme, host and port of a valid address, which the credentials of a connection belong to. */
export function originOf(url: string): string {
  if (isSipAddress(url)) return originOfSip(parseSipAddress(filledIn(url)));
  const { protocol, host } = new URL(filledIn(url));
  return `${protocol}//${host}`;
}

/** An address of HTTP with the host and port of a valid address: what may be reached does not depend on the scheme. */
export function httpAddressOf(url: string): string {
  if (!isSipAddress(url)) return filledIn(url).replace(/^ws/i, 'http');
  const { host, port } = parseSipAddress(filledIn(url));
  return `http://${host}:${port}/`;
}

const filledIn = (url: string): string => url.replace(PLACEHOLDER, 'x');
