import { readFileSync } from 'node:fs';

/** The statements of a file `functions/<name>.sql`. */
export const readFunction = (name: string): string =>
  readFileSync(new URL(`../functions/${name}.sql`, import.meta.url), 'utf8');
