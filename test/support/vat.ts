import { type ChildProcess, spawn } from 'node:child_process';
import { executeInProcess } from '../../libs/client/testing/in-process.js';
import { PROJECT_ROOT } from '../../src/platform/project-root.js';
import { programArguments } from './program.js';

export interface VatResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningVat {
  readonly child: ChildProcess;
  /** Standard error so far. */
  stderr(): string;
  readonly ended: Promise<VatResult>;
}

/** The environment without variables that change the behaviour of the command. */
const BASE_ENV = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(VAT_|GITHUB_|npm_)|_COLOR$/.test(name)),
);

/** Starts the `vat` command in a separate process with only the given settings. */
export function startVat(args: readonly string[], env: NodeJS.ProcessEnv): RunningVat {
  const child = spawn(process.execPath, [...programArguments('libs/client/main.ts'), ...args], {
    cwd: PROJECT_ROOT,
    env: { ...BASE_ENV, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = new Promise<VatResult>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { child, stderr: () => stderr, ended };
}

/** Executes a command of `vat` in this process, with only the given settings; `startVat` starts and loads it first. */
export const vat = (args: readonly string[], env: NodeJS.ProcessEnv): Promise<VatResult> =>
  executeInProcess(args, { ...BASE_ENV, ...env });
