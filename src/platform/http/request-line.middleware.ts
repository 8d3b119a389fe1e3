import type { NextFunction, Request, Response } from 'express';
import { invalidInput } from '../errors/domain-error.js';

/** Scheme and authority of a request target in absolute form (RFC 9112, section 3.2.2). */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/**
 * A request target as one that the router can match, so that no request escapes the guards: percent signs that encode
 * nothing are taken literally (an id made of them is simply not found), and the absolute and asterisk forms of
 * RFC 9112, section 3.2, become paths.
 */
export function routableTarget(target: string): string {
  let url = target;
  if (!url.startsWith('/')) {
    url = url.replace(ORIGIN, '');
    if (!url.startsWith('/')) url = `/${url}`;
  }
  if (url.includes('%')) {
    const query = url.indexOf('?');
    const path = query < 0 ? url : url.slice(0, query);
    if (!decodes(path)) url = path.replaceAll('%', '%25') + url.slice(path.length);
  }
  return url;
}

/** Refuses a request without exactly one Host, as RFC 9112, section 3.2, demands. */
export function requireOneHost(request: Request, _response: Response, next: NextFunction): void {
  next(hasOneHost(request) ? undefined : invalidInput('Host must be given exactly once'));
}

/** Node keeps the first of several Hosts; a proxy before it may have kept another. */
function hasOneHost({ httpVersion, rawHeaders }: Request): boolean {
  const count = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length;
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
