const ROUTES = /(?:^Route: .*\r\n)+/m;
const LOOSE = /;\s*lr(?=[;=?]|$)/i;

/**
 * A request whose first router does not route loosely goes to that router, and its target is the last route (RFC 3261,
 * 12.2.1.1; eigger/hass-sip#39: a border controller of 3CX). Core leaves the target where it is.
 */
export function strictlyRouted(text: string): string {
  const [block = ''] = ROUTES.exec(text) ?? [];
  const [first = '', ...others] = block.split('\r\n').filter((line) => line !== '');
  const [, router] = /<([^>]*)>/.exec(first) ?? [];
  const [, target] = /^\w+ (\S+) SIP\/2\.0\r\n/.exec(text) ?? [];
  if (router === undefined || target === undefined || LOOSE.test(router)) return text;
  const routes = [...others, `Route: <${target}>`].map((line) => `${line}\r\n`).join('');
  return text.replace(block, () => routes).replace(target, () => router.replace(/\?.*$/, ''));
}
