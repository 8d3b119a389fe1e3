import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
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
  private peakKb = 0;
  private sampling: NodeJS.Timeout | undefined;

  constructor(private readonly directory: string) {}

  /** @returns the URL of its agents, with the placeholder for the assistant */
  async startAgent(latencyMs: number, slowMs: number): Promise<string> {
    const port = await freePort();
    const flags = ['--port', port, '--latency-ms', latencyMs, '--slow-ms', slowMs].map(String);
    const child = this.spawn(['dist/libs/reference-agent/main.js', ...flags], process.env);
    let output = '';
    child.stdout?.on('data', (text: Buffer) => (output += String(text)));
    await until('the agent listens', () => output.includes('listening'), START_MS);
    return `http://127.0.0.1:${port}/agents/{assistantId}/v1/chat/completions`;
  }

  /** @param memoryMb heap limit of each process @returns its base URL */
  async startService(agentUrl: string, memoryMb: number): Promise<string> {
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
    this.sampling = setInterval(() => this.sample(service.pid ?? 0), MEMORY_INTERVAL_MS);
    return url;
  }

  /** @returns the ADMIN key of a new workspace with a rate limit that the measurement does not reach */
  async createWorkspace(name: string): Promise<string> {
    const flags = ['workspace', 'create', '--name', name, '--plan', 'ENTERPRISE', '--rate-limit', '1000000', '--json'];
    const { stdout } = await promisify(execFile)('node', ['scripts/admin.mjs', ...flags], {
      cwd: ROOT,
      env: this.serviceEnv,
    });
    return (JSON.parse(stdout) as { apiKey: string }).apiKey;
  }

  /** Processes of the service that ended unexpectedly. */
  get restarts(): number {
    return [...this.output.matchAll(/Process \d+ ended|ended unexpectedly/g)].length;
  }

  /** Largest resident memory of any one process of the service so far, without PostgreSQL. */
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

  private spawn(args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
    const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.running.push(child);
    return child;
  }

  /** Reads the memory of the process and its Node children from /proc; elsewhere it stays 0. */
  private sample(pid: number): void {
    if (!existsSync('/proc/self/status')) return;
    for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        const status = readFileSync(`/proc/${entry}/status`, 'utf8');
        const isOurs = Number(entry) === pid || new RegExp(`^PPid:\\s+${pid}$`, 'm').test(status);
        const isNode = readFileSync(`/proc/${entry}/cmdline`, 'utf8').includes('main.js');
        const peak = Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0);
        if (isOurs && isNode) this.peakKb = Math.max(this.peakKb, peak);
      } catch {
        // The process has ended in the meantime.
      }
    }
  }
}
