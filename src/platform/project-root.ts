import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the project's package.json, both for compiled code in `dist` and for its sources. */
export const PROJECT_ROOT = rootFrom(path.dirname(fileURLToPath(import.meta.url)));

function rootFrom(folder: string): string {
  return existsSync(path.join(folder, 'package.json')) ? folder : rootFrom(path.dirname(folder));
}
