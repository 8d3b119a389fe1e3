// Builds the project unless the build is up to date: run as a program by `npm start`, and imported by the commands.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
/** What the build reads. The time of a folder changes when a file in it is added or deleted. */
const INPUTS = ['src', 'libs', 'scripts', 'ormconfig.ts', 'package-lock.json', 'package.json', 'tsconfig.build.json'];
/** As `npm run build`. */
const BUILD = ['scripts/client-types.mjs', 'node_modules/@nestjs/cli/bin/nest.js build', 'scripts/build-client.mjs'];
/** Missing after `npm ci --omit=dev`, and with NODE_ENV=production. */
const BUILD_TOOLS = ['@nestjs/cli', 'openapi-typescript', 'typescript'];
/** The last file that `npm run build` writes. */
const LAST_OUTPUT = 'dist/client.tgz';

function isStale() {
  const output = path.join(root, LAST_OUTPUT);
  if (!existsSync(output)) return true;
  const builtAt = statSync(output).mtimeMs;
  return INPUTS.map((input) => path.join(root, input))
    .flatMap((input) =>
      statSync(input).isDirectory()
        ? [input, ...readdirSync(input, { recursive: true }).map((entry) => path.join(input, entry))]
        : [input],
    )
    .some((file) => statSync(file).mtimeMs > builtAt);
}

/**
 * Builds the project unless the build is up to date. Exits when the build fails.
 * @param statusOfFailure exit code when the build fails
 */
function buildIfStale(statusOfFailure) {
  if (!isStale()) return;
  if (!BUILD_TOOLS.every((name) => existsSync(path.join(root, 'node_modules', name)))) {
    const missing = 'The development dependencies, which build the service, are not installed';
    const build = 'run "npm ci --include=dev", or copy dist of a build here and use "npm run start:prod"';
    process.stderr.write(`${missing}: ${build}\n`);
    process.exit(statusOfFailure);
  }
  process.stderr.write('Building …\n');
  // Standard output is reserved for the command, so the build writes to standard error.
  for (const script of BUILD) {
    const [file, ...args] = script.split(' ');
    const { status } = spawnSync(process.execPath, [path.join(root, file), ...args], {
      cwd: root,
      stdio: ['ignore', 2, 2],
    });
    if (status !== 0) process.exit(statusOfFailure);
  }
}

/**
 * The URL of a compiled file, built if necessary.
 * @param file relative to the project's root
 */
export function built(file, statusOfFailure) {
  buildIfStale(statusOfFailure);
  return pathToFileURL(path.join(root, file)).href;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) buildIfStale(1);
