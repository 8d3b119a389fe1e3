// Builds dist/client.tgz, the npm package with the `vat` command, which the service serves at /client.tgz: one bundled
// file without dependencies, so that `npx` needs no registry. Equal sources yield equal bytes.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const MAX_BYTES = 2 * 1024 * 1024;

/** Licence texts of the bundled packages. @param inputs files of the bundle, relative to the project's root */
async function notices(inputs) {
  const folders = new Set(
    inputs.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? []).sort(),
  );
  const texts = [...folders].map(async (folder) => {
    const { name, version, license } = JSON.parse(await readFile(path.join(root, folder, 'package.json'), 'utf8'));
    const file = (await readdir(path.join(root, folder))).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file ? await readFile(path.join(root, folder, file), 'utf8') : '';
    return `${name} ${version} (${license})\n\n${text.trim()}\n`;
  });
  return (await Promise.all(texts)).join(`\n${'-'.repeat(80)}\n\n`);
}

const { version, license, engines } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
await mkdir(path.join(root, 'dist'), { recursive: true });
const folder = await mkdtemp(path.join(root, 'dist/.client-'));
try {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['libs/client/main.ts'],
    outfile: path.join(folder, 'vat.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    metafile: true,
    legalComments: 'none',
    banner: {
      // Bundled CommonJS modules require Node's own modules.
      js: "#!/usr/bin/env node\nimport { createRequire as createClientRequire } from 'node:module';\nconst require = createClientRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
  const manifest = {
    name: 'voice-agent-testing-client',
    version,
    description: 'The vat command: tests a voice agent in CI and reports whether the gate is met',
    license,
    type: 'module',
    bin: { vat: 'vat.mjs' },
    engines,
  };
  // The client compares it with the build that the service serves.
  const hash = createHash('sha256')
    .update(JSON.stringify(manifest))
    .update(await readFile(path.join(folder, 'vat.mjs')));
  const complete = { ...manifest, build: hash.digest('hex').slice(0, 12) };
  await Promise.all([
    writeFile(path.join(folder, 'package.json'), `${JSON.stringify(complete, null, 2)}\n`),
    writeFile(path.join(folder, 'THIRD-PARTY-NOTICES.txt'), await notices(Object.keys(metafile.inputs))),
    copyFile(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE')),
  ]);
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const packed = execFileSync(npm, ['pack', '--json', '--ignore-scripts', '--loglevel=error'], { cwd: folder });
  const [{ filename, size }] = JSON.parse(packed.toString());
  if (size > MAX_BYTES) throw new Error(`client.tgz has ${size} bytes; at most ${MAX_BYTES} are allowed`);
  // Renamed, so that a running service never reads an incomplete file.
  await rename(path.join(folder, filename), path.join(root, 'dist/client.tgz'));
} finally {
  await rm(folder, { recursive: true, force: true });
}
