import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PROJECT_ROOT } from '../../src/platform/project-root.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'installs-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Everything that is in the repository, without dependencies and build. */
function checkOut(): void {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: PROJECT_ROOT, encoding: 'utf8' }).split('\0');
  for (const file of files.filter((name) => name !== '' && existsSync(path.join(PROJECT_ROOT, name)))) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    copyFileSync(path.join(PROJECT_ROOT, file), path.join(folder, file));
  }
}

function npm(...args: string[]) {
  const { status, stdout, stderr } = spawnSync('npm', ['--silent', ...args], { cwd: folder, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

const NO_TOOLS =
  'The development dependencies, which build the service, are not installed: run "npm ci --include=dev", or copy dist of a ' +
  'build here and use "npm run start:prod"\n';

// typicode/husky#914, typicode/husky#1331: an installation with --omit=dev or NODE_ENV=production.
it('npm start without development dependencies says in one line what to do', () => {
  checkOut();
  mkdirSync(path.join(folder, 'node_modules/pg'), { recursive: true });
  expect(npm('start')).toEqual({ status: 1, output: NO_TOOLS });
});

it('npm start and the commands without any dependencies say the same', () => {
  checkOut();
  expect(npm('start')).toEqual({ status: 1, output: NO_TOOLS });
  expect(npm('run', 'admin', '--', 'key', 'list')).toEqual({ status: 1, output: NO_TOOLS });
});

it.each([
  ['dist/src/main.js', 'node_modules/pg'],
  ['node_modules/pg', 'dist/src/main.js'],
])('npm run start:prod without %s names it in one line', (missing, present) => {
  cpSync(path.join(PROJECT_ROOT, 'scripts'), path.join(folder, 'scripts'), { recursive: true });
  copyFileSync(path.join(PROJECT_ROOT, 'package.json'), path.join(folder, 'package.json'));
  mkdirSync(path.join(folder, present), { recursive: true });
  expect(npm('run', 'start:prod')).toEqual({
    status: 1,
    output: `${missing} is missing. Run "npm ci && npm run build", or copy dist and node_modules of a build here\n`,
  });
});

// typicode/husky#1271, bluebear-io/baloo-bear#169: a layer of an image with package.json alone.
it('npm ci succeeds where only package.json and package-lock.json are', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(PROJECT_ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  writeFileSync(
    path.join(folder, 'package.json'),
    JSON.stringify({ name: 'layer', version: '1.0.0', type: 'module', scripts }),
  );
  expect(npm('install', '--offline')).toMatchObject({ status: 0 });
  expect(npm('ci', '--offline')).toMatchObject({ status: 0 });
});

it('a start with too low a limit of open files says so in one line', () => {
  for (const name of ['scripts', 'dist/src/main.js', 'node_modules/pg'])
    mkdirSync(path.join(folder, name), { recursive: true });
  copyFileSync(path.join(PROJECT_ROOT, 'scripts/serve.sh'), path.join(folder, 'scripts/serve.sh'));
  const { status, stderr } = spawnSync('sh', ['-c', 'ulimit -n 256; sh scripts/serve.sh'], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([
    1,
    'A process may open only 256 files here: raise the limit to 4096, with ulimit -n or LimitNOFILE of systemd\n',
  ]);
});
