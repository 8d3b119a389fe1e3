import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeUser } from './account.js';
import { completeLibraries, locateBinaries, programEnvironment, type Binaries } from './binaries.js';
import { ClientRegistration } from './client-registration.js';
import {
  checkDataDirectory,
  createDataDirectory,
  missingData,
  prepareDirectory,
  readPassword,
  type Layout,
} from './data-directory.js';
import { EmbeddedPostgresError, explain, fixFor } from './errors.js';
import { OpenServer, type EmbeddedPostgres } from './open-server.js';
import { isAlive, PgCtl, POLL_MS, readPostmaster, type Outcome } from './pg-ctl.js';
import { lastRelevantLine, logSize, readLogSince, rotateLog } from './server-log.js';

export interface EmbeddedPostgresOptions {
  /** folder for everything, such as DATA_DIR/postgres; created if needed */
  directory: string;
  /** gets one line per event; never contains the password */
  log?: ((message: string) => void) | undefined;
  /** fails when there is no data yet instead of creating it; for a server that has been open before */
  mustExist?: boolean | undefined;
  /** used if the server must be started and the port is free; the port of a crashed server goes before it */
  port?: number | undefined;
  /** additional server settings (max_connections, fsync=off for tests); have no effect on a server that already runs */
  parameters?: Readonly<Record<string, string>> | undefined;
}

/** Settings for a small service. */
const DEFAULT_PARAMETERS: Readonly<Record<string, string>> = {
  shared_buffers: '128MB',
  max_connections: '200',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // The service gets the errors of statements; statements and values may be private and would fill the log.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  // The package contains no LLVM.
  jit: 'off',
  // Containers have only 64 MB of /dev/shm, and systemd removes a user's files there at logout.
  dynamic_shared_memory_type: 'mmap',
  max_parallel_workers_per_gather: '0',
};

/** Another process was faster, has stopped the server or uses the port; a killed server's connections are still ending. */
const PASSING_FAILURE =
  /postmaster.pid" (already exists|is empty)|shutdown request|could not bind|pre-existing shared memory block/;
/** A live process of the number in postmaster.pid that refuses connections for this long is not the server. */
const STALE_PID_FILE_MS = 2000;

/** How long to wait for a start, a shutdown by another process or a crash recovery, milliseconds. */
const START_TIMEOUT_MS = 120_000;
/** How long to retry a start that another process or the remains of a killed server prevent, milliseconds. */
const RETRY_MS = 15_000;

/**
 * Opens the PostgreSQL server in a folder: creates the data on first use, joins the server if it runs (another process
 * uses it, or was killed), otherwise starts it. Safe in any number of processes at once. Call `close` in the end.
 *
 * @param binaries other PostgreSQL programs than those of the installed package, for tests
 * @throws EmbeddedPostgresError on every failure, one line with the cause and the fix
 */
export async function openEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
  binaries?: Binaries,
): Promise<EmbeddedPostgres> {
  try {
    return await open(options, binaries ?? locateBinaries());
  } catch (error) {
    throw explain(error, resolve(options.directory));
  }
}

async function open(options: EmbeddedPostgresOptions, binaries: Binaries): Promise<EmbeddedPostgres> {
  const start = Date.now();
  const { log = () => undefined, parameters = {}, port } = options;
  const layout = prepareDirectory(options.directory);
  const { account } = layout;
  const env = programEnvironment(completeLibraries(binaries, layout.libraries));
  const pgCtl = new PgCtl(binaries, layout.data, account, env);
  if (!checkDataDirectory(layout, binaries.major)) {
    if (options.mustExist) throw missingData(layout);
    log(`Embedded PostgreSQL: creating the data directory ${layout.data}`);
    await createDataDirectory(layout, pgCtl, parameters.fsync !== 'off');
  }
  const password = readPassword(layout);
  const { registration, postmaster, adopted } = await new Starter(layout, pgCtl, password, parameters, port).connect();
  log(
    `Embedded PostgreSQL: ${adopted ? 'joined the running' : 'started'} process ${postmaster.pid} on ` +
      `127.0.0.1:${postmaster.port}${account ? ` as ${describeUser(account.uid)}` : ''} in ${Date.now() - start} ms`,
  );
  return new OpenServer(layout, password, pgCtl, log, registration, postmaster, adopted);
}

/** Joins the server, or starts it first. */
class Starter {
  private startedPid: number | undefined;
  private isPortTaken = false;
  private readonly deadline = Date.now() + START_TIMEOUT_MS;
  private retryUntil: number | undefined;

  constructor(
    private readonly layout: Layout,
    private readonly pgCtl: PgCtl,
    private readonly password: string,
    private readonly parameters: Readonly<Record<string, string>>,
    private readonly preferredPort: number | undefined,
  ) {}

  async connect() {
    let refused: { pid: number; since: number } | undefined;
    for (; ; await sleep(POLL_MS)) {
      const postmaster = readPostmaster(this.layout.data);
      // An empty file may belong to a server that is just starting.
      if (postmaster && (postmaster.pid === 0 || isAlive(postmaster.pid))) {
        const result = postmaster.port ? await this.register(postmaster.port) : 'refused';
        if (result instanceof ClientRegistration) {
          return { registration: result, postmaster, adopted: postmaster.pid !== this.startedPid };
        }
        // A running server always accepts connections, if only to reject them during startup and shutdown.
        if (result === 'unavailable') refused = undefined;
        else if (refused?.pid !== postmaster.pid) refused = { pid: postmaster.pid, since: Date.now() };
        else if (Date.now() - refused.since > STALE_PID_FILE_MS) this.pgCtl.removeStalePidFile(postmaster.pid);
      } else {
        refused = undefined;
        await this.start(postmaster?.port);
      }
      if (Date.now() > this.deadline) throw this.startError('it does not accept connections in time');
    }
  }

  private async register(port: number): Promise<ClientRegistration | 'refused' | 'unavailable'> {
    try {
      return await ClientRegistration.create(port, this.password);
    } catch (error) {
      // A server that this process has started but cannot use must not keep running.
      if (this.startedPid) await this.pgCtl.stop(this.startedPid);
      throw error;
    }
  }

  /** @param previousPort of a crashed server; reused so that the pools of other processes find the new server */
  private async start(previousPort: number | undefined): Promise<void> {
    const { layout } = this;
    const port = await findPort(this.isPortTaken ? undefined : previousPort || this.preferredPort);
    rotateLog(layout.log);
    const offset = logSize(layout.log);
    const settings = {
      ...DEFAULT_PARAMETERS,
      ...this.parameters,
      listen_addresses: '127.0.0.1',
      port: String(port),
      unix_socket_directories: '',
      // Messages go to the log that is read below.
      logging_collector: 'off',
      log_destination: 'stderr',
    };
    const outcome = await this.pgCtl.start(settings, layout.log, this.deadline - Date.now());
    if (outcome.code === 0) this.startedPid = readPostmaster(layout.data)?.pid;
    else this.checkRetry(outcome, readLogSince(layout.log, offset));
  }

  /** @throws EmbeddedPostgresError when starting again would not help */
  private checkRetry({ output, code }: Outcome, log: string): void {
    this.isPortTaken ||= /could not bind/.test(log);
    this.retryUntil ??= Date.now() + RETRY_MS;
    if (PASSING_FAILURE.test(log + output) && Date.now() < this.retryUntil) return;
    const isTimeout = output.includes('did not start in time');
    const cause = (isTimeout ? undefined : lastRelevantLine(log)) ?? lastRelevantLine(output);
    throw this.startError(cause ?? `pg_ctl ended with ${code}`);
  }

  private startError(cause: string): EmbeddedPostgresError {
    return new EmbeddedPostgresError(
      `The embedded PostgreSQL in ${this.layout.directory} does not start: ${cause}. ${fixFor(cause)} ` +
        `(its messages are in ${this.layout.log}).`,
    );
  }
}

/** @param preferred used if it is free */
async function findPort(preferred = 0): Promise<number> {
  try {
    const server = createServer().listen({ host: '127.0.0.1', port: preferred, exclusive: true });
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    return port;
  } catch (error) {
    if (preferred === 0) throw error;
    return findPort();
  }
}
