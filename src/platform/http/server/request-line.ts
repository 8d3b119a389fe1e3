import type { Request } from 'express';

/** Scheme and authority of a request target in absolute form (RFC 9112, section 3.2.2). */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/**
 * Rewrites a request target so that the router can match it and no request bypasses the guards: invalid percent signs
 * and fragments are taken literally (an id that contains them is not found), and the absolute and asterisk forms of
 * RFC 9112, section 3.2, become paths.
 */
export function routableTarget(target: string): string {
  let url = target;
  if (!url.startsWith('/')) {
    url = url.replace(ORIGIN, '');
    if (!url.startsWith('/')) url = `/${url}`;
  }
  if (url.includes('%') || url.includes('#')) {
    const query = url.indexOf('?');
    const path = query < 0 ? url : url.slice(0, query);
    url = (decodes(path) ? path : path.replaceAll('%', '%25')).replaceAll('#', '%23') + url.slice(path.length);
  }
  return url;
}

/**
 * Whether a request has exactly one Host, as RFC 9112, section 3.2, requires. Node keeps the first of several; a proxy
 * in front of it may have kept another.
 */
export function hasOneHost({ httpVersion, rawHeaders }: Request): boolean {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count === 1 || (count === 0 && httpVersion === '1.0');
}

function decodes(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
