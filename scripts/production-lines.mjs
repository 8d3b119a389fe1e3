/**
 * Prints the lines of production code by folder: `src` and `libs` without tests, test doubles, migrations and generated
 * types. With a revision of git, also by how many lines each folder has grown since.
 */
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const IS_NOT_PRODUCTION = /\.spec\.ts$|\/testing\/|\/migrations\/|\.d\.ts$/;

const { positionals } = parseArgs({ allowPositionals: true });
const [base] = positionals;

const git = (...args) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 26 });

function linesByFolder(revision) {
  const lines = new Map();
  for (const row of git('grep', '-c', '', revision, '--', 'src/**.ts', 'libs/**.ts').trim().split('\n')) {
    const [, path, count] = /^[^:]+:(.+):(\d+)$/.exec(row);
    if (IS_NOT_PRODUCTION.test(path)) continue;
    const folder = path.split('/').slice(0, 2).join('/');
    for (const name of [folder, 'all']) lines.set(name, (lines.get(name) ?? 0) + Number(count));
  }
  return lines;
}

const now = linesByFolder('HEAD');
const before = base === undefined ? undefined : linesByFolder(base);
const folders = [...new Set([...now.keys(), ...(before?.keys() ?? [])])];
for (const folder of folders
  .filter((name) => name !== 'all')
  .sort()
  .concat('all')) {
  const count = now.get(folder) ?? 0;
  const growth = before ? count - (before.get(folder) ?? 0) : 0;
  const change = before ? String(growth > 0 ? `+${growth}` : growth).padStart(8) : '';
  console.log(`${folder.padEnd(30)}${String(count).padStart(7)}${change}`);
}
