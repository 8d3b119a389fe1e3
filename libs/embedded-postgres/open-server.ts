import { setTimeout as sleep } from 'node:timers/promises';
import { describeOwnUser } from './account.js';
import { SUPERUSER, type Layout } from './cluster.js';
import { EmbeddedPostgresError, explain } from './errors.js';
import { connect, Holder } from './holder.js';
import { acquireLock } from './lock.js';
import { inspectServer, stopServer, type ServerProcess, type ServerState } from './postmaster.js';
import { errorCode, POLL_MS } from './process.js';
import { lastRelevantLine, logSize, readLogSince, trimLog } from './server-log.js';

/** An opened server. */
export interface EmbeddedPostgres {
  /** process number of the server */
  readonly pid: number;
  /** whether the server ran already when it was opened */
  readonly adopted: boolean;
  /**
   * @returns postgresql://… of a database of this server, with the password: not for logs. The port can change when
   *   the server was stopped and started again.
   */
  url(database: string): string;
  /**
   * Creates a database unless it exists.
   *
   * @throws EmbeddedPostgresError when the server cannot do it
   */
  createDatabase(name: string): Promise<void>;
  /**
   * Gives the server back, and stops it when no other process uses it (connections are cut, so end the own ones
   * before). Usually takes some 30 ms; a server that resists 18 s, and another process that is just opening or closing
   * it up to 30 s more. Further calls return the same promise.
   *
   * @throws EmbeddedPostgresError when the server does not end by any means, or cannot be asked for its users
   */
  close(): Promise<void>;
  /**
   * Calls back when the server has ended without `close` (killed, crashed, stopped by an administrator), once per
   * death. Open again to start a new one, after `close`. A server that merely restarts after the crash of one of its
   * connections is not reported: it is joined again silently.
   */
  onExit(callback: (reason: EmbeddedPostgresError) => void): void;
}

/** How long close() waits for a process that is opening or closing the same server, milliseconds. */
const CLOSE_LOCK_MS = 30_000;

/** How long close() waits for a server that is restarting after a crash of a connection, milliseconds. */
const RESTART_MS = 10_000;

/** How often to look whether somebody has started a server again that had ended, milliseconds. */
const RETURN_POLL_MS = 200;

/** How often the size of the server's log is looked at, milliseconds. */
const LOG_CHECK_MS = 3_600_000;

export class OpenServer implements EmbeddedPostgres {
  readonly adopted: boolean;
  private holder: Holder;
  private server: ServerProcess;
  private readonly callbacks: ((reason: EmbeddedPostgresError) => void)[] = [];
  private death: EmbeddedPostgresError | undefined;
  private closing: Promise<void> | undefined;
  private joining: Promise<Holder | undefined> | undefined;
  private logOffset: number;
  private readonly logCheck: NodeJS.Timeout;

  constructor(
    private readonly layout: Layout,
    private readonly password: string,
    private readonly log: (message: string) => void,
    reached: { holder: Holder; server: ServerProcess; adopted: boolean },
  ) {
    this.holder = reached.holder;
    this.server = reached.server;
    this.adopted = reached.adopted;
    this.logOffset = logSize(layout.log);
    this.logCheck = setInterval(() => trimLog(layout.log), LOG_CHECK_MS).unref();
    void this.keepWatch();
  }

  get pid(): number {
    return this.server.pid;
  }

  url(database: string): string {
    const credentials = `${SUPERUSER}:${encodeURIComponent(this.password)}`;
    return `postgresql://${credentials}@127.0.0.1:${this.server.port}/${encodeURIComponent(database)}`;
  }

  async createDatabase(name: string): Promise<void> {
    let client;
    try {
      client = await connect(this.server.port, this.password, 'postgres', 'embedded-postgres');
      const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
      // template0 admits no connections, so nobody can be in the way of the copy.
      if (!rowCount) await client.query(`create database ${client.escapeIdentifier(name)} template template0`);
    } catch (error) {
      // Another process was faster; the second code is what the race itself yields.
      if (['42P04', '23505'].includes(errorCode(error) ?? '')) return;
      throw new EmbeddedPostgresError(
        `The embedded PostgreSQL in ${this.layout.directory} could not create the database "${name}": ` +
          `${error instanceof Error ? error.message : String(error)}. See ${this.layout.log}.`,
        { cause: error },
      );
    } finally {
      await client?.end().catch(() => undefined);
    }
  }

  onExit(callback: (reason: EmbeddedPostgresError) => void): void {
    this.callbacks.push(callback);
    const death = this.death;
    if (death && !this.closing) queueMicrotask(() => this.tell(callback, death));
  }

  close(): Promise<void> {
    this.closing ??= this.release();
    return this.closing;
  }

  private async release(): Promise<void> {
    clearInterval(this.logCheck);
    let unlock: (() => void) | undefined;
    let mayStop = true;
    try {
      unlock = await acquireLock(this.layout.lock, CLOSE_LOCK_MS);
    } catch (error) {
      // Either a process takes very long to open the server, so it is needed; or the folder is gone, so it is not.
      mayStop = errorCode(error) !== undefined;
    }
    try {
      // A registration that is under way would look like another user of the server.
      await this.joining;
      await this.leaveServer(mayStop);
    } catch (error) {
      throw explain(error, this.layout.directory, describeOwnUser());
    } finally {
      unlock?.();
    }
  }

  private async leaveServer(mayStop: boolean): Promise<void> {
    const deadline = Date.now() + RESTART_MS;
    for (;;) {
      const holder = this.holder.isAlive() ? this.holder : await this.joinOnce();
      try {
        const last = mayStop && (await holder?.isLast());
        if (last) await this.stop();
        if (last !== undefined) return;
      } finally {
        await holder?.leave();
      }
      // The server is restarting, or it is ending by itself.
      if (this.death || inspectServer(this.layout.data).kind === 'stopped') return;
      if (Date.now() > deadline) {
        this.log(`Embedded PostgreSQL: left server process ${this.server.pid} as it is, for it does not answer`);
        return;
      }
      await sleep(POLL_MS);
    }
  }

  private async stop(): Promise<void> {
    const { server } = this;
    const began = Date.now();
    const how = await stopServer(server, this.layout.data);
    if (how === 'stuck') {
      throw new EmbeddedPostgresError(
        `The embedded PostgreSQL process ${server.pid} cannot be ended, even by force: its disk may hang.`,
      );
    }
    const harder = how === 'fast' ? '' : ' by force, the next start recovers its data';
    this.log(`Embedded PostgreSQL: stopped server process ${server.pid}${harder} in ${Date.now() - began} ms`);
  }

  /** Keeps this process registered: through restarts of the server, for as long as it is open. */
  private async keepWatch(): Promise<void> {
    while (!this.closing) {
      await this.holder.lost;
      void this.holder.leave();
      while (!this.closing && !this.holder.isAlive()) {
        this.joining = this.joinOnce();
        const holder = await this.joining;
        if (holder) this.holder = holder;
        // Does not keep the process alive: without a server there is nothing to wait for.
        else await sleep(this.death ? RETURN_POLL_MS : POLL_MS, undefined, { ref: false });
      }
    }
  }

  /** Registers again if the server is there; reports its death if not. Never throws. */
  private async joinOnce(): Promise<Holder | undefined> {
    let state: ServerState = { kind: 'stopped' };
    let holder: Holder | undefined;
    try {
      state = inspectServer(this.layout.data);
      if (state.kind === 'ready') holder = await Holder.register(state.port, this.password);
    } catch {
      // The folder is gone, or is another one by now: in any case not the server that was opened.
      state = { kind: 'stopped' };
    }
    if (holder && state.kind === 'ready') {
      this.server = state;
      this.death = undefined;
      this.logOffset = logSize(this.layout.log);
    } else if (state.kind === 'stopped' && !this.death && !this.closing) {
      this.reportDeath();
    }
    return holder;
  }

  private reportDeath(): void {
    // Only the server's main process: what its connections complain about is not why it ended.
    const own = readLogSince(this.layout.log, this.logOffset)
      .split('\n')
      .filter((line) => line.includes(`[${this.server.pid}]`) && /FATAL|PANIC|shutdown request/.test(line));
    const line = lastRelevantLine(own.join('\n'));
    this.death = new EmbeddedPostgresError(
      `The embedded PostgreSQL (process ${this.server.pid}) has ended unexpectedly: ` +
        `${line ?? 'it was killed'}. Start this program again; committed data are safe.`,
    );
    this.log(this.death.message);
    for (const callback of this.callbacks) this.tell(callback, this.death);
  }

  private tell(callback: (reason: EmbeddedPostgresError) => void, reason: EmbeddedPostgresError): void {
    try {
      callback(reason);
    } catch (error) {
      this.log(`Embedded PostgreSQL: an onExit callback failed: ${String(error)}`);
    }
  }
}
