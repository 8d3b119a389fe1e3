import { setTimeout as sleep } from 'node:timers/promises';
import { ClientRegistration, connect } from './client-registration.js';
import { SUPERUSER, type Layout } from './data-directory.js';
import { EmbeddedPostgresError, errorCode, explain } from './errors.js';
import { POLL_MS, readPostmaster, type PgCtl, type Postmaster } from './pg-ctl.js';
import { lastRelevantLine, logSize, readLogSince, rotateLog } from './server-log.js';

/** An opened server. */
export interface EmbeddedPostgres {
  /** process id of the postmaster, the server's main process */
  readonly pid: number;
  /** whether the server was already running when it was opened */
  readonly adopted: boolean;
  /**
   * @returns postgresql://… of a database of this server, with the password: not for logs. The port can change when
   *   the server is stopped and started again.
   */
  url(database: string): string;
  /**
   * Creates a database unless it exists.
   *
   * @throws EmbeddedPostgresError when the server cannot create it
   */
  createDatabase(name: string): Promise<void>;
  /**
   * Closes the server for this process, and stops it when no other process uses it; connections are closed then, so end
   * your own before. Usually takes 0.2 s, at most about 30 s. Further calls return the same promise.
   *
   * @throws EmbeddedPostgresError when the server cannot be stopped
   */
  close(): Promise<void>;
  /**
   * Resolves with the reason when the postmaster stops without `close`: killed, crashed or stopped by an administrator.
   * To start a new server, call `close`, then `openEmbeddedPostgres` again. Does not resolve when the postmaster
   * survives the crash of a connection and recovers.
   */
  readonly stoppedUnexpectedly: Promise<EmbeddedPostgresError>;
}

/** How long `close` waits for a server that recovers from the crash of a connection, milliseconds. */
const RECOVERY_MS = 10_000;
/** How often to check whether a stopped server runs again, milliseconds. */
const RETURN_POLL_MS = 200;
/** How often the server's log is rotated, milliseconds. */
const LOG_ROTATION_MS = 3_600_000;

export class OpenServer implements EmbeddedPostgres {
  private reportStop!: (reason: EmbeddedPostgresError) => void;
  readonly stoppedUnexpectedly = new Promise<EmbeddedPostgresError>((resolve) => (this.reportStop = resolve));
  private stopReason: EmbeddedPostgresError | undefined;
  private closing: Promise<void> | undefined;
  private reconnecting: Promise<unknown> | undefined;
  private logOffset: number;
  private readonly logRotation: NodeJS.Timeout;

  constructor(
    private readonly layout: Layout,
    private readonly password: string,
    private readonly pgCtl: PgCtl,
    private readonly log: (message: string) => void,
    private registration: ClientRegistration,
    private postmaster: Postmaster,
    readonly adopted: boolean,
  ) {
    this.logOffset = logSize(layout.log);
    this.logRotation = setInterval(() => rotateLog(layout.log), LOG_ROTATION_MS).unref();
    void this.stayRegistered();
  }

  get pid(): number {
    return this.postmaster.pid;
  }

  url(database: string): string {
    const credentials = `${SUPERUSER}:${encodeURIComponent(this.password)}`;
    return `postgresql://${credentials}@127.0.0.1:${this.postmaster.port}/${encodeURIComponent(database)}`;
  }

  async createDatabase(name: string): Promise<void> {
    let client;
    try {
      client = await connect(this.postmaster.port, this.password, 'embedded-postgres');
      const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
      // template0 accepts no connections, so none can block the copy.
      if (!rowCount) await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)} TEMPLATE template0`);
    } catch (error) {
      // Another process was faster: duplicate_database, or unique_violation in a race.
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

  close(): Promise<void> {
    this.closing ??= this.release();
    return this.closing;
  }

  private async release(): Promise<void> {
    clearInterval(this.logRotation);
    try {
      // A registration in progress would look like another client.
      await this.reconnecting;
      for (const deadline = Date.now() + RECOVERY_MS; !this.stopReason; await sleep(POLL_MS)) {
        if (this.registration.isConnected) {
          const isLast = await this.registration.withdraw();
          if (isLast) await this.stop();
          if (isLast !== undefined) return;
        }
        await this.registration.end();
        if ((await this.reconnect()) === 'refused') return;
        if (Date.now() > deadline) {
          this.log(`Embedded PostgreSQL: left process ${this.pid} running, because it does not respond`);
          return;
        }
      }
    } catch (error) {
      throw explain(error, this.layout.directory);
    } finally {
      await this.registration.end();
    }
  }

  private async stop(): Promise<void> {
    const start = Date.now();
    const mode = await this.pgCtl.stop(this.pid);
    const note = mode === 'fast' ? '' : ` with ${mode}, the next start recovers its data`;
    this.log(`Embedded PostgreSQL: stopped process ${this.pid}${note} in ${Date.now() - start} ms`);
  }

  /** Registers again whenever the connection is lost, until `close`. */
  private async stayRegistered(): Promise<void> {
    while (!this.closing) {
      await this.registration.lost;
      void this.registration.end();
      while (!this.closing && !this.registration.isConnected) {
        this.reconnecting = this.reconnect();
        if ((await this.reconnecting) === 'refused') this.noticeStop();
        // Does not keep this process alive.
        await sleep(this.stopReason ? RETURN_POLL_MS : POLL_MS, undefined, { ref: false });
      }
    }
  }

  /** @returns 'refused' when the server has stopped. Never throws */
  private async reconnect(): Promise<'registered' | 'refused' | 'unavailable'> {
    try {
      const postmaster = readPostmaster(this.layout.data);
      if (!postmaster?.port) return 'refused';
      const result = await ClientRegistration.create(postmaster.port, this.password);
      if (!(result instanceof ClientRegistration)) return result;
      this.registration = result;
      this.postmaster = postmaster;
      this.stopReason = undefined;
      this.logOffset = logSize(this.layout.log);
      return 'registered';
    } catch {
      // The folder has been removed or replaced.
      return 'refused';
    }
  }

  private noticeStop(): void {
    if (this.stopReason || this.closing) return;
    const lines = readLogSince(this.layout.log, this.logOffset)
      .split('\n')
      .filter((line) => line.includes(`[${this.pid}]`) && /FATAL|PANIC|shutdown request/.test(line));
    const cause = lastRelevantLine(lines.join('\n')) ?? 'its process was killed';
    this.stopReason = new EmbeddedPostgresError(
      `Embedded PostgreSQL stopped unexpectedly (process ${this.pid}): ${cause}. Committed data is safe.`,
    );
    this.reportStop(this.stopReason);
  }
}
