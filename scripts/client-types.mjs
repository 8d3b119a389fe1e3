// Generates libs/client/api.d.ts, the types of the client, unless it is newer than openapi.json and this file.
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const root = path.dirname(import.meta.dirname);
const source = path.join(root, 'openapi.json');
const target = path.join(root, 'libs/client/api.d.ts');
const timeOf = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

// npm also runs this, as `prepare`, where no development dependency is installed.
const isPossible = existsSync(source) && existsSync(path.join(root, 'node_modules/openapi-typescript'));
if (isPossible && timeOf(target) <= Math.max(timeOf(source), timeOf(import.meta.filename))) {
  const { default: openapiTS, astToString } = await import('openapi-typescript');
  const document = JSON.parse(readFileSync(source, 'utf8'));
  // A field with a default may be left out of a request.
  const types = astToString(await openapiTS(document, { defaultNonNullable: false }));
  // Renamed, so that nothing that runs at the same time reads an incomplete file.
  const temporary = `${target}.${process.pid}`;
  writeFileSync(temporary, types);
  renameSync(temporary, target);
}
