import { promises as dns } from 'node:dns';

/** All addresses of a host name; rejects when there are none. */
export type Resolve = (hostname: string) => Promise<string[]>;

/** Per server and try, in milliseconds: three tries stay below the time-out of any caller here. */
const TIMEOUT_MS = 2_000;
const TRIES = 2;
/**
 * How many names may be in the operating system's resolver at once. It works on libuv's pool of four threads, which
 * files and cryptography share: names whose servers never answer must not take all of them.
 */
const MAX_SYSTEM_LOOKUPS = 2;
/** The servers answered, and know no such name: the hosts file or a search domain may. */
const NOT_IN_DNS = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'ENOTIMP', 'EBADNAME']);

let running = 0;
const waiting: (() => void)[] = [];

/** Asks the DNS servers without a thread, and the operating system only for what they do not know. */
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
    // The place is handed over, so that nobody can take it in between.
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'UNKNOWN';
