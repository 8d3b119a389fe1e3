import type { NextFunction, Request, Response } from 'express';

/**
 * Makes every request line one that the router can match, so that none escapes the guards: percent signs that encode
 * nothing are taken literally (an id made of them is simply not found), and the absolute and asterisk forms of
 * RFC 9112, section 3.2, become paths.
 */
export function repairRequestLine(request: Request, _response: Response, next: NextFunction): void {
  let { url } = request;
  if (!url.startsWith('/')) url = URL.canParse(url) ? pathOf(new URL(url)) : `/${url}`;
  if (url.includes('%')) {
    const query = url.indexOf('?');
    const path = query < 0 ? url : url.slice(0, query);
    if (!decodes(path)) url = path.replaceAll('%', '%25') + url.slice(path.length);
  }
  request.url = url;
  next();
}

const pathOf = ({ pathname, search }: URL): string => pathname + search;

function decodes(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
