// The administrator's command: builds the project if that was not done yet, then hands over.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const built = path.join(root, 'dist/src/admin/main.js');

function isStale() {
  if (!existsSync(built)) return true;
  const builtAt = statSync(path.join(root, 'dist/.tsbuildinfo')).mtimeMs;
  return ['src', 'libs'].some((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true }).some(
      (entry) => entry.isFile() && statSync(path.join(entry.parentPath, entry.name)).mtimeMs > builtAt,
    ),
  );
}

if (isStale()) {
  // Standard output belongs to the command's answer, so the build speaks on standard error.
  const nest = path.join(root, 'node_modules/@nestjs/cli/bin/nest.js');
  const { status } = spawnSync(process.execPath, [nest, 'build'], { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}
await import(built);
