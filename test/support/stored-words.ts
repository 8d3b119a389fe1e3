import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { sql } from './sql.js';

/** Names of all tables of a database that have a row with these words anywhere. */
export async function tablesWith(databaseUrl: string, words: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await tablesOf(databaseUrl)) {
    const rows = await sql(databaseUrl, `SELECT 1 FROM ${name} t WHERE t::text LIKE $1 LIMIT 1`, [`%${words}%`]);
    if (rows.length > 0) found.push(name);
  }
  return found.sort();
}

async function tablesOf(databaseUrl: string): Promise<string[]> {
  const tables = await sql<{ name: string }>(
    databaseUrl,
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
      WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  );
  return tables.map(({ name }) => name);
}

/** Names of all files in a folder that have these words, compressed or not. */
export async function filesWith(folder: string, words: string): Promise<string[]> {
  const files = await filesOf(folder);
  return files.flatMap(({ name, bytes }) => (bytes.includes(words) ? name : [])).sort();
}

async function filesOf(folder: string): Promise<{ readonly name: string; readonly bytes: Buffer }[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((one) => one.isFile());
  return Promise.all(
    files.map(async ({ name, parentPath }) => {
      const bytes = await readFile(path.join(parentPath, name));
      return { name, bytes: name.endsWith('.gz') ? gunzipSync(bytes) : bytes };
    }),
  );
}

/** All texts of all tables of a database. */
export async function databaseTexts(databaseUrl: string): Promise<string[]> {
  const texts: string[] = [];
  for (const name of await tablesOf(databaseUrl)) {
    const rows = await sql<{ row: unknown }>(databaseUrl, `SELECT to_jsonb(t) AS row FROM ${name} t`);
    texts.push(...rows.flatMap(({ row }) => textsOf(row)));
  }
  return texts;
}

/** All texts of the files in a folder, compressed or not. */
export async function folderTexts(folder: string): Promise<string[]> {
  const files = await filesOf(folder);
  return files.flatMap(({ bytes }) => textsOf(bytes.toString('latin1')));
}

/** The texts in a value, keys included, and those in the JSON in them. */
export function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value, ...value.split('\n').flatMap(textsOfJson)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => [key, ...textsOf(one)]);
}

function textsOfJson(line: string): string[] {
  if (!/^[{["]/.test(line)) return [];
  try {
    return textsOf(JSON.parse(line));
  } catch {
    return [];
  }
}
