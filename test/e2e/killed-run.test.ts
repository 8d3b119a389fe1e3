import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isRunning } from '../../libs/embedded-postgres/testing/processes.js';
import { sample } from '../../libs/statistics/testing/sample.js';
import { until } from '../support/until.js';

jest.setTimeout(180_000);

const ROOT = path.resolve(__dirname, '../..');

interface Report {
  /** Temporary folder of the run, and that of its databases. */
  readonly folders: readonly string[];
  /** A worker process of Jest and the servers that its test has started. */
  readonly pids: readonly number[];
}

describe('a killed test run leaves neither a process nor a file behind', () => {
  let work: string;
  let runner: ChildProcess;
  beforeEach(async () => {
    work = await mkdtemp(path.join(tmpdir(), 'killed-run-'));
  });
  afterEach(async () => {
    runner.kill('SIGKILL');
    await rm(work, { recursive: true, force: true });
  });

  /** Starts a run, and waits until its test has started its servers. @param command as the script `test` of package.json */
  async function start(command: string, args: readonly string[]): Promise<Report> {
    const file = path.join(work, 'report.json');
    runner = spawn(command, args, {
      cwd: ROOT,
      env: { ...process.env, ENDLESS_REPORT: file },
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    runner.stderr!.on('data', (text: Buffer) => (output += text.toString()));
    const isReady = () => {
      if (runner.exitCode !== null) throw new Error(`The run has ended: ${output}`);
      return existsSync(file) && readFileSync(file, 'utf8') !== '';
    };
    await until('the test has started its servers', isReady, 150_000);
    return JSON.parse(readFileSync(file, 'utf8')) as Report;
  }

  /** Two workers, because Jest runs a single file in its own process otherwise. */
  const JEST = ['--config', 'test/support/endless/jest.config.mjs', '--maxWorkers=2', '--ci'];

  const jest = [process.execPath, ['node_modules/jest/bin/jest.js', ...JEST]] as const;
  const npm = ['npm', ['test', '--', ...JEST]] as const;
  const kills = [
    ['npm is killed', npm, () => process.kill(runner.pid!, 'SIGKILL')],
    ['Jest is killed', jest, () => process.kill(runner.pid!, 'SIGKILL')],
    ['Ctrl-C is pressed', jest, () => process.kill(-runner.pid!, 'SIGINT')],
  ] as const;
  it.each(sample(kills))('when %s', async (_, [command, args], kill) => {
    const { folders, pids } = await start(command, args);
    expect(pids.filter(isRunning)).toEqual(pids);
    const ended = once(runner, 'exit');
    kill();
    await ended;
    await until('its folders are gone', () => !folders.some(existsSync));
    expect(pids.filter(isRunning)).toEqual([]);
  });
});
