import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { sql } from './sql.js';

/** Names of all tables of a database that have a row with these words anywhere. */
export async function tablesWith(databaseUrl: string, words: string): Promise<string[]> {
  const tables = await sql<{ name: string }>(
    databaseUrl,
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
      WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await sql(databaseUrl, `SELECT 1 FROM ${name} t WHERE t::text LIKE $1 LIMIT 1`, [`%${words}%`]);
    if (rows.length > 0) found.push(name);
  }
  return found.sort();
}

/** Names of all files in a folder that have these words, compressed or not. */
export async function filesWith(folder: string, words: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.filter((one) => one.isFile())) {
    const bytes = await readFile(path.join(entry.parentPath, entry.name));
    if ((entry.name.endsWith('.gz') ? gunzipSync(bytes) : bytes).includes(words)) found.push(entry.name);
  }
  return found.sort();
}
