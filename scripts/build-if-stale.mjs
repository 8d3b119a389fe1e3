import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

function isStale(built) {
  if (!existsSync(built)) return true;
  const builtAt = statSync(path.join(root, 'dist/.tsbuildinfo')).mtimeMs;
  return ['src', 'libs'].some((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true }).some(
      (entry) => entry.isFile() && statSync(path.join(entry.parentPath, entry.name)).mtimeMs > builtAt,
    ),
  );
}

/**
 * Builds the project unless the build is up to date. Exits when the build fails.
 * @param file compiled file, relative to the project's root
 * @param statusOfFailure exit code when the build fails
 * @returns the URL of the compiled file
 */
export function buildIfStale(file, statusOfFailure) {
  const built = path.join(root, file);
  if (isStale(built)) {
    // Standard output is reserved for the command, so the build writes to standard error.
    const nest = path.join(root, 'node_modules/@nestjs/cli/bin/nest.js');
    const { status } = spawnSync(process.execPath, [nest, 'build'], { cwd: root, stdio: ['ignore', 2, 2] });
    if (status !== 0) process.exit(statusOfFailure);
  }
  return pathToFileURL(built).href;
}
