import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { adaptDataFolder, describeOwnUser, planLaunch, type LaunchPlan } from './account.js';
import { completeLibraries, locateBinaries, programEnvironment, type Binaries } from './binaries.js';
import {
  checkDataFolder,
  createDataFolder,
  prepareDirectory,
  readPassword,
  removeRemains,
  type Layout,
} from './cluster.js';
import { EmbeddedPostgresError, explain, OWN_DATABASE } from './errors.js';
import { Holder } from './holder.js';
import { acquireLock } from './lock.js';
import { OpenServer, type EmbeddedPostgres } from './open-server.js';
import {
  disarmPidFile,
  findPort,
  inspectServer,
  launchServer,
  stopServer,
  type Launch,
  type ServerProcess,
  type ServerState,
} from './postmaster.js';
import { POLL_MS } from './process.js';
import { lastRelevantLine, trimLog } from './server-log.js';

export interface EmbeddedPostgresOptions {
  /** where everything is kept, such as DATA_DIR/postgres; created if need be */
  directory: string;
  /** gets one readable line per event; never holds the password */
  log?: ((message: string) => void) | undefined;
  /**
   * extra server settings (max_connections, fsync=off for tests). They count when this call starts the server, not
   * when it joins one that runs already.
   */
  parameters?: Readonly<Record<string, string>> | undefined;
  /** how long to wait for another process, a shutdown or a crash recovery, milliseconds; 120 000 by default */
  timeoutMs?: number | undefined;
}

/** A shutdown of somebody else's server can end our launch: so many new attempts, then the reason is reported. */
const MAX_LAUNCHES = 10;

/** How often to try again beside orphans of a killed server, milliseconds. */
const ORPHANS_POLL_MS = 50;

/** How long orphans of a killed server may take to end, milliseconds. They notice it within a fraction of a second. */
const ORPHANS_MS = 15_000;

/**
 * Opens the PostgreSQL server in a folder: creates the data at the first time, joins a server that runs there already
 * (of a killed process, or one that another process uses now), otherwise starts one. Safe in any number of processes
 * at once. Give the result back with `close`.
 *
 * @param programs other PostgreSQL programs than the installed package's; for tests
 * @throws EmbeddedPostgresError in every case of failure: one line with the reason and the cure
 */
export async function openEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
  programs?: Binaries,
): Promise<EmbeddedPostgres> {
  try {
    return await open(options, programs ?? locateBinaries());
  } catch (error) {
    throw explain(error, resolve(options.directory), describeOwnUser());
  }
}

async function open(options: EmbeddedPostgresOptions, binaries: Binaries): Promise<EmbeddedPostgres> {
  const began = Date.now();
  const log = options.log ?? (() => undefined);
  const timeoutMs = options.timeoutMs ?? 120_000;
  const layout = prepareDirectory(options.directory);
  const release = await acquireLock(layout.lock, timeoutMs);
  try {
    const opening = new Opening(layout, binaries, options.parameters ?? {}, Date.now() + timeoutMs, log);
    const { holder, server, launched } = await opening.reach();
    trimLog(layout.log);
    log(
      `Embedded PostgreSQL: ${launched ? `started (${launched})` : 'joined the running'} server process ${server.pid} ` +
        `on 127.0.0.1:${server.port} in ${Date.now() - began} ms`,
    );
    return new OpenServer(layout, opening.password, log, { holder, server, adopted: !launched });
  } finally {
    release();
  }
}

/** One attempt to get at the server; the caller holds the lock. */
class Opening {
  password: string;
  private hasData: boolean;
  private prepared: { env: NodeJS.ProcessEnv; plan: LaunchPlan } | undefined;
  private launch: Launch | undefined;
  private launches = 0;
  private portTaken = false;
  private orphansUntil: number | undefined;

  constructor(
    private readonly layout: Layout,
    private readonly binaries: Binaries,
    private readonly parameters: Readonly<Record<string, string>>,
    private readonly deadline: number,
    private readonly log: (message: string) => void,
  ) {
    this.hasData = checkDataFolder(layout, binaries);
    this.password = this.hasData ? readPassword(layout) : '';
  }

  /** Waits for the server, starting it if need be, and registers this process as its user. */
  async reach(): Promise<{ holder: Holder; server: ServerProcess; launched: string | undefined }> {
    const began = Date.now();
    try {
      for (;;) {
        const state = inspectServer(this.layout.data);
        if (state.kind === 'ready') {
          const holder = await Holder.register(state.port, this.password);
          if (holder) return { holder, server: state, launched: this.howLaunched(state.pid) };
        } else if (state.kind === 'stopped') {
          await this.startIfNeeded(state);
        }
        if (Date.now() > this.deadline) throw this.tooLate(state);
        // What takes longer than usual (a recovery) is not worth many looks.
        await sleep(Date.now() - began > 3000 ? 100 : POLL_MS);
      }
    } catch (error) {
      await this.abandon();
      throw error;
    }
  }

  /** How the server was started, if it was by this call. */
  private howLaunched(pid: number): string | undefined {
    return pid === this.launch?.pid ? this.prepared?.plan.how : undefined;
  }

  private async startIfNeeded(state: ServerState & { kind: 'stopped' }): Promise<void> {
    if (this.launch) {
      const ended = this.launch.ended();
      // Not yet as far as writing its pid file.
      if (ended === undefined) return;
      this.judgeEnd(this.launch, ended);
      this.launch = undefined;
      if (this.orphansUntil) await sleep(ORPHANS_POLL_MS);
      // The pid file may be another one by now.
      state = inspectServer(this.layout.data) as typeof state;
      if (state.kind !== 'stopped') return;
    }
    const { env, plan } = await this.prepare();
    disarmPidFile(this.layout.data, state);
    this.launches++;
    // A port that was lost to somebody else is not tried again.
    const port = await findPort(this.portTaken ? undefined : state.port);
    this.launch = launchServer(this.layout, this.binaries, plan, { port, env, parameters: this.parameters });
  }

  /** Once per opening: completes the libraries, finds out how to run the programs, creates the data. */
  private async prepare(): Promise<{ env: NodeJS.ProcessEnv; plan: LaunchPlan }> {
    if (this.prepared) return this.prepared;
    const { layout, binaries, parameters } = this;
    removeRemains(layout);
    const env = programEnvironment(completeLibraries(binaries, layout.libraries));
    const plan = await planLaunch({ directory: layout.directory, dataFolder: layout.data }, binaries.postgres, env);
    if (this.hasData) {
      adaptDataFolder(plan, layout.data);
    } else {
      this.log(`Embedded PostgreSQL: creating the data folder ${layout.data} (${plan.how})`);
      this.password = await createDataFolder(layout, binaries, plan, { env, sync: parameters.fsync !== 'off' });
      this.hasData = true;
    }
    this.prepared = { env, plan };
    return this.prepared;
  }

  /** Returns when another attempt makes sense after the server has ended during its start, throws otherwise. */
  private judgeEnd(launch: Launch, ended: number | string): void {
    const said = launch.log();
    // A signal or an orderly end: somebody else has stopped it. Code 2: immediate shutdown.
    const wasStopped = ended === 0 || ended === 2 || /^SIG(KILL|TERM|INT|QUIT)$/.test(String(ended));
    this.portTaken ||= /could not bind|could not create any TCP/.test(said);
    const orphans = /lock file "postmaster.pid" already exists|pre-existing shared memory block/.test(said);
    if (orphans) {
      this.orphansUntil ??= Date.now() + ORPHANS_MS;
      if (Date.now() < this.orphansUntil) return;
    } else if ((wasStopped || this.portTaken) && this.launches < MAX_LAUNCHES) {
      return;
    }
    throw new EmbeddedPostgresError(
      `The embedded PostgreSQL in ${this.layout.directory} does not start: ` +
        `${lastRelevantLine(said) ?? `the server ended with ${ended}`}. ${startCure(said, ended)} ` +
        `(its messages are in ${this.layout.log}).`,
    );
  }

  private tooLate(state: ServerState): EmbeddedPostgresError {
    const doing = {
      starting: 'is still starting or recovering from a crash',
      stopping: 'is still shutting down',
      ready: 'accepts no connection',
      stopped: 'does not start',
    }[state.kind];
    const line = this.launch && lastRelevantLine(this.launch.log());
    const pid = 'pid' in state ? ` (process ${state.pid})` : '';
    return new EmbeddedPostgresError(
      `The embedded PostgreSQL in ${this.layout.directory}${pid} ${doing}${line ? `: ${line}` : ''}. ` +
        `Wait and start this program again; if it persists, stop that process (kill -INT) and read ${this.layout.log}.`,
    );
  }

  /** A server that nobody has joined must not stay behind, except while it repairs its data. */
  private async abandon(): Promise<void> {
    if (!this.launch || this.launch.ended() !== undefined) return;
    const state = inspectServer(this.layout.data);
    if (state.kind === 'ready' && state.pid === this.launch.pid) await stopServer(state, this.layout.data);
  }
}

function startCure(said: string, ended: number | string): string {
  if (/No space left|Disk quota/.test(said)) return 'Free some space on the disk or move DATA_DIR to another one';
  if (/unrecognized configuration parameter|invalid value for parameter/.test(said)) return 'Correct that setting';
  if (/could not bind|could not create any TCP/.test(said)) return 'No port of 127.0.0.1 can be opened: allow it';
  if (/shared memory|postmaster.pid" already/.test(said)) {
    return 'End the PostgreSQL processes of that folder which a killed server has left behind';
  }
  if (/Permission denied/.test(said)) return `Correct the owner and the modes of the data folder`;
  if (ended === 'ENOENT') return `This system cannot run the programs: ${OWN_DATABASE}`;
  return `Remove the cause, restore the data from a backup, or ${OWN_DATABASE}`;
}
