import { promises as dns } from 'node:dns';

/** Resolves a host name to all its addresses; rejects when there are none. */
export type Resolve = (hostname: string) => Promise<string[]>;

/** Per server and attempt, in milliseconds; all attempts together stay below the time-out of every caller. */
const TIMEOUT_MS = 2_000;
const TRIES = 2;
/**
 * Maximum number of concurrent look-ups by the operating system. They block threads of libuv's pool of four, which file
 * access and cryptography need too.
 */
const MAX_SYSTEM_LOOKUPS = 2;
/** The name is not in DNS; the hosts file or a search domain may know it. */
const NOT_IN_DNS = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'ENOTIMP', 'EBADNAME']);

let running = 0;
const waiting: (() => void)[] = [];

/** Queries DNS without using a thread; asks the operating system only for names that are not in DNS. */
export const resolveName: Resolve = async (hostname) => {
  const resolver = new dns.Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (addresses.length > 0) return addresses;
  const reasons = answers.flatMap((answer) => (answer.status === 'rejected' ? [codeOf(answer.reason)] : []));
  if (!reasons.every((code) => NOT_IN_DNS.has(code)))
    throw new Error(`The name servers answered ${reasons.join(', ')}`);
  return systemLookup(hostname);
};

async function systemLookup(hostname: string): Promise<string[]> {
  if (running >= MAX_SYSTEM_LOOKUPS) await new Promise<void>((resolve) => waiting.push(resolve));
  else running++;
  try {
    return (await dns.lookup(hostname, { all: true })).map(({ address }) => address);
  } finally {
    // The slot passes directly to the next waiting look-up.
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'UNKNOWN';
