import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { HttpClient } from '../support/http.js';
import { freePort } from '../support/redis.js';
import { until } from '../support/until.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** As in `npm start`. */
const START_FLAGS = ['--max-semi-space-size=8', '--heap-growing-percent=85'];
const START_MS = 60_000;
const MEMORY_INTERVAL_MS = 500;

/** The built service with its worker process, and the reference agent, each as users start them. */
export class Processes {
  private readonly running: ChildProcess[] = [];
  private output = '';
  private serviceEnv: NodeJS.ProcessEnv = {};
  private servicePid = 0;
  private serviceUrl = '';
  private peakKb = 0;
  private sampling: NodeJS.Timeout | undefined;

  constructor(private readonly directory: string) {}

  /**
   * Starts the agent with a higher priority than the service and its attackers, where the system allows it: a customer's
   * agent has a machine of its own.
   * @returns the URLs of its text agents, with the placeholder for the assistant, and of its telephone
   */
  async startAgent(latencyMs: number, slowMs: number): Promise<{ readonly text: string; readonly voice: string }> {
    const port = await freePort();
    const flags = ['--port', port, '--latency-ms', latencyMs, '--slow-ms', slowMs].map(String);
    const child = this.spawn(['scripts/reference-agent.mjs', ...flags], process.env);
    try {
      setPriority(child.pid!, constants.priority.PRIORITY_ABOVE_NORMAL);
    } catch {
      // Not permitted: the agent answers later on a busy machine.
    }
    let output = '';
    child.stdout?.on('data', (text: Buffer) => (output += String(text)));
    await until('the agent listens', () => output.includes('listening'), START_MS);
    const url = `http://127.0.0.1:${port}`;
    return { text: `${url}/agents/{assistantId}/v1/chat/completions`, voice: `${url}/voice` };
  }

  /** @returns the address, without scheme, of hostile agents in a process of the lowest priority */
  async startAttacker(program = 'attacker.ts'): Promise<string> {
    const args = ['-n', '19', process.execPath, '--import', '@swc-node/register/esm-register'];
    const child = this.spawn([...args, `test/isolation/${program}`], process.env, 'nice');
    let output = '';
    child.stdout?.on('data', (text: Buffer) => (output += String(text)));
    await until('the attacker listens', () => /listening on \S+\n/.test(output), START_MS);
    return /listening on (\S+)/.exec(output)![1]!;
  }

  /** @param memoryMb heap limit of each process */
  async startService(agentUrl: string, memoryMb: number, env: NodeJS.ProcessEnv = {}): Promise<void> {
    const port = await freePort();
    this.serviceEnv = {
      ...process.env,
      PORT: String(port),
      HOST: '127.0.0.1',
      DATA_DIR: path.join(this.directory, 'data'),
      AGENT_PROVIDER_1_URL: agentUrl,
      OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8',
      LOG_FORMAT: 'json',
      NODE_OPTIONS: `--max-old-space-size=${memoryMb}`,
      MALLOC_ARENA_MAX: '2',
      ...env,
    };
    const service = this.spawn([...START_FLAGS, 'dist/src/main.js'], this.serviceEnv);
    service.stdout?.on('data', (text: Buffer) => (this.output += String(text)));
    service.stderr?.on('data', (text: Buffer) => (this.output += String(text)));
    const url = `http://127.0.0.1:${port}`;
    const isReady = () =>
      fetch(`${url}/readyz`).then(
        (response) => response.ok,
        () => false,
      );
    await until(`the service is ready\n${this.output}`, isReady, START_MS);
    this.serviceUrl = url;
    this.servicePid = service.pid ?? 0;
    this.sampling = setInterval(() => {
      this.peakKb = Math.max(this.peakKb, this.largest('VmHWM'));
    }, MEMORY_INTERVAL_MS);
  }

  /** @returns a client with the ADMIN key of a new workspace, whose rate limit the measurement does not reach */
  async createWorkspace(name: string): Promise<HttpClient> {
    const flags = ['workspace', 'create', '--name', name, '--plan', 'ENTERPRISE', '--rate-limit', '1000000', '--json'];
    const { stdout } = await promisify(execFile)('node', ['scripts/admin.mjs', ...flags], {
      cwd: ROOT,
      env: this.serviceEnv,
    });
    return new HttpClient(this.serviceUrl, (JSON.parse(stdout) as { apiKey: string }).apiKey);
  }

  /** Processes of the service that ended unexpectedly. */
  get restarts(): number {
    return [...this.output.matchAll(/Process \S+ \(\d+\) ended/g)].length;
  }

  /** Threads of voice calls that ended unexpectedly. */
  get threadDeaths(): number {
    return [...this.output.matchAll(/The thread of the calls .* ended/g)].length;
  }

  /** Largest resident memory that any one process of the service has now, without PostgreSQL. */
  memoryMb(): number {
    return Math.round(this.largest('VmRSS') / 1024);
  }

  /** The same at any time so far. */
  peakMemoryMb(): number {
    return Math.round(this.peakKb / 1024);
  }

  async stop(): Promise<void> {
    clearInterval(this.sampling);
    for (const child of this.running.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  }

  private spawn(args: readonly string[], env: NodeJS.ProcessEnv, program = process.execPath): ChildProcess {
    const child = spawn(program, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.running.push(child);
    return child;
  }

  /** Of the service and its Node children in kB, from /proc; elsewhere 0. */
  private largest(figure: 'VmHWM' | 'VmRSS'): number {
    if (!existsSync('/proc/self/status')) return 0;
    const pid = this.servicePid;
    const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return Math.max(
      0,
      ...all.map((entry) => {
        try {
          const status = readFileSync(`/proc/${entry}/status`, 'utf8');
          const isOurs = Number(entry) === pid || new RegExp(`^PPid:\\s+${pid}$`, 'm').test(status);
          const isNode = isOurs && readFileSync(`/proc/${entry}/cmdline`, 'utf8').includes('main.js');
          return isNode ? Number(new RegExp(`^${figure}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) : 0;
        } catch {
          // The process has ended in the meantime.
          return 0;
        }
      }),
    );
  }
}
