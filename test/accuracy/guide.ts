import { readFile, writeFile } from 'node:fs/promises';

const GUIDE = new URL('../../docs/guides/accuracy.md', import.meta.url);

/** Writes a table between its two comments in the guide. @param name of the comments */
export async function replaceTable(name: string, table: string): Promise<void> {
  const [begin, end] = [`<!-- ${name} begin -->`, `<!-- ${name} end -->`];
  const guide = await readFile(GUIDE, 'utf8');
  const [before, rest] = guide.split(begin);
  const after = rest?.split(end)[1];
  if (after === undefined) throw new Error(`The guide has no place for the table "${name}"`);
  await writeFile(GUIDE, `${before}${begin}\n\n${table}\n\n${end}${after}`);
}
