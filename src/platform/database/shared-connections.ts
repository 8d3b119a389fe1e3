import { Socket } from 'node:net';
import pg, { type Client, type ClientConfig, type Pool, type QueryConfig } from 'pg';
import { takeRows } from './rows.js';

/** So many statements go to the server in one piece at most: it should begin with the first while others are written. */
const MOST_AT_ONCE = 4;
/** How long a statement may keep the ones behind it waiting before it is sent away, in milliseconds: at all, for a lock. */
const PATIENCE = { statement_timeout: 1_000, lock_timeout: 5 };
/** So long those about the same as one that was sent away stay away, in milliseconds, and so many are kept in mind. */
const AWAY_MS = 1_000;
const MOST_AWAY = 1_000;
/** Characters of a UUID, and of a SHA-256. */
const LONGEST_ID = 64;
/** A connection that has not answered for so long is dead, in milliseconds. */
const ANSWER_TIMEOUT_MS = 10_000;
/**
 * SQLSTATEs of a statement that lost its patience, and of those behind it that relied on its text to be prepared. None of
 * them has done anything then.
 */
const SENT_AWAY = new Set(['57014', '55P03', '26000']);

/** Whether a statement took longer than those that share a connection may, so that it needs one of its own. */
export const needsOwnConnection = (error: unknown): boolean => SENT_AWAY.has((error as { code?: string }).code ?? '');

/**
 * A few connections for many short statements: each is sent without waiting for the answers to those before it (the
 * protocol's pipelining). Under load that saves most of the system calls, of the switches between processes, and of the
 * server's processes that would contend for its processors (decision 57). Every statement is a transaction of its own.
 */
export class SharedConnections {
  private readonly connections: SharedConnection[];
  /** What was sent away of late, and until when it is remembered. */
  private readonly away = new Map<string, number>();

  /** @param pool whose settings they have; none is opened before it is needed */
  constructor(pool: Pool, count: number) {
    this.connections = Array.from({ length: count }, () => new SharedConnection(pool.options));
  }

  /**
   * Whether the statement may be tried here. One about the same thing as another that was sent away would be sent away
   * too, and whoever changes what is locked again and again would hold up everybody else.
   */
  isWelcome(statement: QueryConfig): boolean {
    if (this.away.size === 0) return true;
    const subject = subjectOf(statement);
    const until = subject === undefined ? undefined : this.away.get(subject);
    if (subject === undefined || until === undefined) return true;
    if (performance.now() < until) return false;
    this.away.delete(subject);
    return true;
  }

  /** @throws what the driver throws; see `needsOwnConnection` */
  async query<Row extends object>(statement: QueryConfig): Promise<Row[]> {
    try {
      return await this.connections.reduce((a, b) => (b.underWay < a.underWay ? b : a)).query<Row>(statement);
    } catch (error) {
      if (needsOwnConnection(error)) this.remember(subjectOf(statement));
      throw error;
    }
  }

  private remember(subject: string | undefined): void {
    if (subject === undefined) return;
    if (this.away.size >= MOST_AWAY) this.away.clear();
    this.away.set(subject, performance.now() + AWAY_MS);
  }

  /** Ends them once what was sent is answered. */
  async close(): Promise<void> {
    await Promise.all(this.connections.map((connection) => connection.close()));
  }

  /** How many are open. */
  get openCount(): number {
    return this.connections.filter(({ isOpen }) => isOpen).length;
  }
}

/** What a statement is about, if its first value is an identifier. */
export function subjectOf({ name = '', values = [] }: QueryConfig): string | undefined {
  const first: unknown = values[0];
  const isShort = typeof first === 'number' || (typeof first === 'string' && first.length <= LONGEST_ID);
  return isShort ? `${name} ${first}` : undefined;
}

class SharedConnection {
  /** Statements that have not been answered. */
  underWay = 0;
  private client: Client | undefined;
  private connecting: Promise<Client> | undefined;
  private socket = new Socket();
  /** Statements that are held back, to be sent together. */
  private held = 0;

  constructor(private readonly options: ClientConfig) {}

  get isOpen(): boolean {
    return this.client !== undefined;
  }

  async query<Row extends object>(statement: QueryConfig): Promise<Row[]> {
    this.underWay += 1;
    try {
      const client = this.client ?? (await (this.connecting ??= this.connect()));
      this.hold();
      const answer = client.query<Row>(statement);
      if (this.held === MOST_AT_ONCE) this.send();
      return takeRows(await answer);
    } finally {
      this.underWay -= 1;
    }
  }

  async close(): Promise<void> {
    const client = this.client ?? (await this.connecting?.catch(() => undefined));
    await client?.end();
  }

  /** Holds back what is written, until the requests that have come in together are all looked at. */
  private hold(): void {
    if (this.held++ > 0) return;
    this.socket.cork();
    setImmediate(this.send);
  }

  private readonly send = (): void => {
    if (this.held === 0) return;
    this.held = 0;
    this.socket.uncork();
  };

  private async connect(): Promise<Client> {
    const socket = new Socket();
    const options = { ...this.options, ...PATIENCE, query_timeout: ANSWER_TIMEOUT_MS };
    const client = new pg.Client({ ...options, pipeline: true, stream: () => socket });
    // The next statement opens another one.
    const forget = () => {
      if (this.socket === socket) this.client = this.connecting = undefined;
    };
    client.on('error', forget).on('end', forget);
    this.send();
    this.socket = socket;
    try {
      await client.connect();
    } catch (error) {
      forget();
      throw error;
    }
    this.client = client;
    return client;
  }
}
