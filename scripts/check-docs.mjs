// Checks that the Markdown files of the root and of docs name only what exists: files and headings in relative links,
// paths in `code`, and names in `code`, which must occur in the code. Checks also that no document or pipeline runs `npx`
// with the bare name of the command, which on the public registry is a foreign package, that a document with commands
// of `vat`, `get` or `post` defines them or leads to where they are defined, that nest-cli.json names every library,
// that each decision that a text names has a file, and that nothing uses a retired word.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { RETIRED_WORDS, UNCHECKED } from './retired-words.mjs';
import { unknownNames } from './unknown-names.mjs';

const root = path.dirname(import.meta.dirname);
const FOLDERS = ['.ci', 'bench', 'docs', 'libs', 'scripts', 'src', 'test'];
const LINK = /\]\(([^)\s]+)\)/g;
const CODE = /`([\w.@-]+(?:\/[\w.@-]+)+\/?)`/g;
/** Documents may leave out the beginning of a path: `platform/queue`, `http/server.ts`. */
const IS_PATH = /^(\.ci|bench|docs|libs|scripts|src|test|bootstrap|cluster|modules|platform)\/|\.(ts|mjs|cjs|md)$/;

/** Without packages: `.ci/run` installs the ones of test/realtime-agent before this check. */
const filesIn = (folder) =>
  readdirSync(path.join(root, folder), { recursive: true })
    .filter((name) => !name.split(path.sep).includes('node_modules'))
    .map((name) => `/${folder}/${name}`);
const files = FOLDERS.flatMap(filesIn);
const exists = (name) => files.some((file) => file.endsWith(`/${name.replace(/\/$/, '')}`));

/** The anchors of a document, as GitHub forms them from its headings. */
const anchorsOf = (file) =>
  [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );

function leadsNowhere(document, link) {
  const [target, anchor] = link.split('#');
  const file = path.join(root, target === '' ? document : path.join(path.dirname(document), target));
  return !existsSync(file) || (anchor !== undefined && file.endsWith('.md') && !anchorsOf(file).includes(anchor));
}

function missing(document) {
  const text = readFileSync(path.join(root, document), 'utf8');
  const links = [...text.matchAll(LINK)]
    .map(([, target]) => target)
    .filter((target) => !/^[a-z]+:|^\//.test(target) && leadsNowhere(document, target));
  const paths = [...text.matchAll(CODE)].map(([, code]) => code).filter((code) => IS_PATH.test(code) && !exists(code));
  return [...links, ...paths].map((name) => `${document}: ${name} does not exist`);
}

const rootFiles = readdirSync(root, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? entry.name : []));
const relative = (name) => name.slice(1);
const isDocument = (name) => name.endsWith('.md');
const documents = [...rootFiles, ...filesIn('docs').map(relative)].filter(isDocument);
const pipelines = filesIn('docs').filter((name) => name.endsWith('.yml'));
const bare = [...documents, ...pipelines]
  .filter((name) => /\bnpx (-y |--yes )?vat\b/.test(readFileSync(path.join(root, name), 'utf8')))
  .map((name) => `${name}: npx must name the package, as in npx --yes --package "$VAT_URL/client.tgz" vat`);

/** Functions of the shell. Tests of the guides define them for all documents, so only this check notices that one is missing. */
const SHELL_FUNCTIONS = ['vat', 'get', 'post'].map((name) => ({
  name,
  use: new RegExp(`^(.*[$]\\()?${name} [a-z"]`, 'm'),
  origin: new RegExp(`^ *${name}\\(\\) \\{|\`${name}\`[^]{0,120}?\\]\\([\\w-]+\\.md#`, 'm'),
}));
const undefinedFunctions = documents.flatMap((document) => {
  const text = readFileSync(path.join(root, document), 'utf8');
  const blocks = [...text.matchAll(/^( *)```(?:sh|bash)\n([^]*?)^ *```$/gm)];
  const shell = blocks.map(([, indent, block]) => block.replaceAll(new RegExp(`^${indent}`, 'gm'), '')).join('\n');
  return SHELL_FUNCTIONS.filter(({ use, origin }) => use.test(shell) && !origin.test(text)).map(
    ({ name }) => `${document}: say whose \`${name}\` the commands use, with a link to the heading that defines it`,
  );
});

const TEXT_FILE = /\.(ts|mjs|cjs|md|ya?ml|sh|csv|env\.example)$|^(\.ci\/run|Dockerfile|package\.json)$/;
/** What may stand between two words of a text: also the end of a line in a comment, a list or the name of a file. */
const BETWEEN_WORDS = '[\\s*/#>-]+';
const words = RETIRED_WORDS.map(({ pattern, ...word }) => ({
  ...word,
  pattern: new RegExp(pattern.source.replaceAll(' ', BETWEEN_WORDS), `${pattern.flags}g`),
}));

function retiredIn(name) {
  const text = `${name}\n${readFileSync(path.join(root, name), 'utf8')}`;
  return words
    .filter(({ except = [] }) => !except.includes(name))
    .flatMap(({ pattern, instead }) =>
      [...text.matchAll(pattern)].map(({ 0: found, index }) => {
        const line = Math.max(1, text.slice(0, index).split('\n').length - 1);
        return `${name}:${line}: "${found.replace(/\s+/g, ' ')}" is retired; use: ${instead}`;
      }),
    );
}

const textFiles = [...rootFiles, ...files.map(relative)].filter((name) => TEXT_FILE.test(name));
const checked = textFiles.filter((name) => !UNCHECKED.some((beginning) => name.startsWith(beginning)));
const code = [...textFiles, 'openapi.json'].filter((name) => !isDocument(name) && name !== 'scripts/unknown-names.mjs');
const blind = words
  .filter(({ pattern, example }) => !new RegExp(pattern, pattern.flags.replace('g', '')).test(example))
  .map(({ pattern, example }) => `scripts/retired-words.mjs: ${pattern} is not found in its example "${example}"`);

const { projects } = JSON.parse(readFileSync(path.join(root, 'nest-cli.json'), 'utf8'));
const unnamed = readdirSync(path.join(root, 'libs'))
  .filter((name) => projects[name]?.root !== `libs/${name}`)
  .map((name) => `nest-cli.json: the library ${name} is missing`);

const decisions = new Set(readdirSync(path.join(root, 'docs/decisions')).map((name) => Number.parseInt(name, 10)));
const undocumented = textFiles.flatMap((name) =>
  [...readFileSync(path.join(root, name), 'utf8').matchAll(/\bdecisions? (\d+)(?:(?:,| and|, and) (\d+))*/gi)]
    .flatMap(([text]) => text.match(/\d+/g).map(Number))
    .filter((number) => !decisions.has(number))
    .map((number) => `${name}: decision ${number} has no file in docs/decisions`),
);
const faults = [
  ...documents.flatMap(missing),
  ...undocumented,
  ...unknownNames(root, documents, code),
  ...bare,
  ...undefinedFunctions,
  ...unnamed,
  ...blind,
  ...checked.flatMap(retiredIn),
];
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
else
  console.log(`All paths and names in ${documents.length} documents exist; no retired word in ${checked.length} files`);
