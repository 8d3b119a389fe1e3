/**
 * The delay in milliseconds that a `Retry-After` header requests (RFC 9110, section 10.2.3: seconds or an HTTP date), or
 * undefined if it is missing or invalid. Some servers send fractions of seconds.
 */
export function retryAfterMs(header: string | null | undefined, now = Date.now()): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);
  // Date.parse accepts many other formats; HTTP dates begin with the day of the week.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : Math.max(0, time - now);
}
