// Checks that README.md and docs/**/*.md only name files that exist: relative links, and paths in `code`. Checks also that
// no document or pipeline runs `npx` with the bare name of the command, which on the public registry is a foreign package.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.dirname(import.meta.dirname);
const FOLDERS = ['.ci', 'bench', 'docs', 'libs', 'scripts', 'src', 'test'];
const LINK = /\]\(([^)\s]+)\)/g;
const CODE = /`([\w.@-]+(?:\/[\w.@-]+)+\/?)`/g;
/** Documents may leave out the beginning of a path: `platform/queue`, `http/server.ts`. */
const IS_PATH = /^(\.ci|bench|docs|libs|scripts|src|test|bootstrap|cluster|modules|platform)\/|\.(ts|mjs|cjs|md)$/;

const filesIn = (folder) =>
  readdirSync(path.join(root, folder), { recursive: true }).map((name) => `/${folder}/${name}`);
const files = FOLDERS.flatMap(filesIn);
const exists = (name) => files.some((file) => file.endsWith(`/${name.replace(/\/$/, '')}`));

function missing(document) {
  const text = readFileSync(path.join(root, document), 'utf8');
  const links = [...text.matchAll(LINK)]
    .map(([, target]) => target.replace(/#.*$/, ''))
    .filter((target) => target !== '' && !/^[a-z]+:|^\//.test(target))
    .filter((target) => !existsSync(path.join(root, path.dirname(document), target)));
  const paths = [...text.matchAll(CODE)].map(([, code]) => code).filter((code) => IS_PATH.test(code) && !exists(code));
  return [...links, ...paths].map((name) => `${document}: ${name} does not exist`);
}

const documents = ['README.md', ...filesIn('docs').filter((name) => name.endsWith('.md'))];
const pipelines = filesIn('docs').filter((name) => name.endsWith('.yml'));
const bare = [...documents, ...pipelines]
  .filter((name) => /\bnpx (-y |--yes )?vat\b/.test(readFileSync(path.join(root, name), 'utf8')))
  .map((name) => `${name}: npx must name the package, as in npx --yes --package "$VAT_URL/client.tgz" vat`);
const faults = [...documents.flatMap(missing), ...bare];
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
else console.log(`All paths in ${documents.length} documents exist`);
