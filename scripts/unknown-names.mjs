// Names in `code` of the documents that occur nowhere in the code: the document describes something that was renamed or
// removed. Part of `npm run docs:check`.
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Names of other programs and libraries, by the document that mentions them. Each has its reason. */
const FOREIGN = {
  'THIRD-PARTY.md': ['COPYING'], // a file of another project
  'docs/adding-a-check.md': ['max_tool_calls', 'MaxToolCallsSpec'], // the made-up check of the page
  'docs/adding-a-wire.md': ['AGENT_PROVIDER_n_PROTOCOL'], // abbreviated: one of four settings
  'docs/api.md': ['EventSource'], // an interface of browsers
  'docs/configuration.md': ['_4_PROTOCOL', '_4_URL'], // abbreviated: the last one of four settings
  'docs/decisions/0010-addresses-are-checked-in-the-look-up.md': ['getaddrinfo'], // a function of the C library
  'docs/decisions/0062-the-service-runs-its-compiled-files.md': ['keepNames'], // an option of another compiler
  'docs/decisions/0070-imports-in-worker-threads.md': ['piscina'], // a library that was not chosen
  'docs/decisions/0096-ci-repeats-failed-test-files-once.md': ['retryTimes'], // a function of Jest that was not chosen
  'docs/guides/connections.md': ['EPROTO', 'Trailer'], // an error of OpenSSL; a header, which the code has in lower case
  'docs/guides/storage.md': ['max_wal_size', 'pg_repack'], // a setting of PostgreSQL, and a program for it
  'docs/guides/webhooks.md': ['WEBHOOK_SECRET'], // a variable of the reader's program
  'docs/operation/proxies.md': ['add_header', 'ALL_PROXY'], // settings of nginx; a variable that is not read
  'docs/production.md': ['npm_config_cafile'], // a setting of npm
};

const BLOCK = /^ *```[\s\S]*?^ *```/gm;
const SPAN = /`([^`]+)`/g;
const NAME = /[A-Za-z_$][\w$]*/g;
/** The span is a name, perhaps of a member or a call; otherwise only camelCase and snake_case in it are surely names. */
const IS_NAME = /^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*(\(\))?$/;
const IS_COMPOUND = /[a-z][A-Z]|[a-z0-9]_[a-z]|[A-Z]_[A-Z]/;
const SUPERSEDED = /^Superseded by/m;

const namesIn = (text) =>
  [...text.replace(BLOCK, '').matchAll(SPAN)].flatMap(([, span]) =>
    [...span.matchAll(NAME)].map(([name]) => name).filter((name) => IS_NAME.test(span) || IS_COMPOUND.test(name)),
  );

/** @param code names of the files in which names are looked for */
export function unknownNames(root, documents, code) {
  const read = (name) => readFileSync(path.join(root, name), 'utf8');
  const known = new Set(code.flatMap((name) => [...read(name).matchAll(NAME)].map(([word]) => word)));
  return documents.flatMap((document) => {
    const text = read(document);
    const isSuperseded = SUPERSEDED.test(text);
    const unknown = isSuperseded ? [] : [...new Set(namesIn(text))].filter((name) => !known.has(name));
    const foreign = FOREIGN[document] ?? [];
    return [
      ...unknown
        .filter((name) => !foreign.includes(name))
        .map((name) => `${document}: \`${name}\` does not occur in the code`),
      ...foreign
        .filter((name) => !unknown.includes(name))
        .map((name) => `scripts/unknown-names.mjs: the exception ${name} of ${document} is not needed`),
    ];
  });
}
