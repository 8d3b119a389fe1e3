import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';

const GUIDES = new URL('../../docs/guides/', import.meta.url);
const RESULTS = new URL('../../bench/results/accuracy/', import.meta.url);

/** Writes a table between its two comments in a guide. @param name of the comments */
export async function replaceTable(name: string, table: string, file = 'accuracy.md'): Promise<void> {
  const [begin, end] = [`<!-- ${name} begin -->`, `<!-- ${name} end -->`];
  const path = new URL(file, GUIDES);
  const guide = await readFile(path, 'utf8');
  const [before, rest] = guide.split(begin);
  const after = rest?.split(end)[1];
  if (after === undefined) throw new Error(`The guide has no place for the table "${name}"`);
  await writeFile(path, `${before}${begin}\n\n${table}\n\n${end}${after}`);
}

/** Writes the rows of a measurement below the heading of its file. @param name of the file, without its extension */
export async function writeRows(name: string, table: string): Promise<void> {
  const path = new URL(`${name}.md`, RESULTS);
  if (!existsSync(path)) throw new Error(`bench/results/accuracy/${name}.md does not exist`);
  const [heading] = (await readFile(path, 'utf8')).split('\n');
  await writeFile(path, `${heading}\n\n${table}\n`);
}
