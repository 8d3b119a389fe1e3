import { createClient, defineScript } from 'redis';
import type { Beginning, SharedCount } from './counter-link.js';

export const KEY_PREFIX = 'voice-agent-testing:rate:';

/** How long a connection may take to come about, in milliseconds. */
export const CONNECT_TIMEOUT_MS = 2_000;
/** Keeps an idle connection from being closed by Redis or by what lies between. */
const PING_MS = 15_000;

/**
 * One step, so that no two processes can count the same hit number. The end is kept beside the hits because one that
 * every process derived from the time left would differ from process to process. Hits are missing
 * when Redis lost the window and a process that knew less of it came first. A key still lives in the
 * millisecond in which its time is up, hence the 1.
 */
const count = defineScript({
  SCRIPT: `
    local resetAt = redis.call('HGET', KEYS[1], 'resetAt')
    if not resetAt then
      resetAt = ARGV[4]
      if ARGV[1] == '0' then return {tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(resetAt)} end
      redis.call('HSET', KEYS[1], 'hits', ARGV[2], 'resetAt', resetAt)
      redis.call('PEXPIRE', KEYS[1], math.max(ARGV[3] - 1, 1))
    end
    local hits = redis.call('HINCRBY', KEYS[1], 'hits', ARGV[1])
    local missing = ARGV[2] + ARGV[1] - hits
    if missing > 0 then hits = redis.call('HINCRBY', KEYS[1], 'hits', missing) end
    return {hits, redis.call('PTTL', KEYS[1]) + 1, tonumber(resetAt)}`,
  NUMBER_OF_KEYS: 1,
  parseCommand(parser, key: string, points: number, { hits, ttl, resetAt }: Beginning) {
    parser.pushKey(KEY_PREFIX + key);
    parser.push(String(points), String(hits), String(ttl), String(resetAt));
  },
  transformReply: undefined as unknown as () => SharedCount,
});

/**
 * A client for one connection: it neither reconnects nor queues while there is none, because its user has something
 * better to do than wait.
 * @throws TypeError for an address that it cannot read
 */
export const createRedisClient = (url: string) =>
  createClient({
    url,
    // RESP 2 without client information needs no round trip before the first command.
    RESP: 2,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    disableOfflineQueue: true,
    // The default is an AbortSignal for every command, which a command that was sent no longer heeds.
    commandOptions: { timeout: undefined },
    pingInterval: PING_MS,
    socket: { connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy: false },
    scripts: { count },
  });

export type RedisClient = ReturnType<typeof createRedisClient>;
