import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Format } from './evaluation-files.js';

/** A file that is small or valid at first sight and expensive to read. */
export interface ImportAttack {
  readonly name: string;
  readonly format: Format;
  readonly body: () => string | Buffer;
  readonly encoding?: 'gzip' | 'br';
}

const MEBIBYTE = 1024 * 1024;
const item = (key: string, fields: object = {}) => ({
  key,
  name: 'Attack',
  scenarioText: 'Text',
  personalityId: 'c7e15a3b-2f68-4d90-a1b4-8e9d0c6f7251',
  ...fields,
});
const repeated = (text: string, size: number): string => text.repeat(Math.floor(size / text.length));
const list = (count: number, entry: (index: number) => unknown) =>
  JSON.stringify(Array.from({ length: count }, (_, index) => entry(index)));

/** Files within the size limits that took seconds or hundreds of megabytes when requests were served. */
export const IMPORT_ATTACKS: readonly ImportAttack[] = [
  {
    name: 'three million empty lists, compressed',
    format: 'json',
    body: () => gzipSync(`[${repeated('[],', 10 * MEBIBYTE - 10)}[]]`),
    encoding: 'gzip',
  },
  {
    name: 'a million objects, compressed',
    format: 'json',
    body: () => brotliCompressSync(`[${repeated('{"a":{}},', 10 * MEBIBYTE - 10)}1]`),
    encoding: 'br',
  },
  {
    name: 'a decompression bomb',
    format: 'json',
    body: () => gzipSync(Buffer.alloc(200 * MEBIBYTE, ' ')),
    encoding: 'gzip',
  },
  { name: 'five million levels', format: 'json', body: () => '['.repeat(5 * MEBIBYTE) + ']'.repeat(5 * MEBIBYTE - 1) },
  {
    name: 'five million levels in a cell',
    format: 'csv',
    body: () => `key,name,scenarioText,personalityId,checks\na,b,c,d,"${'['.repeat(5 * MEBIBYTE)}"\n`,
  },
  {
    name: 'half a million names in one object',
    format: 'json',
    body: () => `[{${Array.from({ length: 500_000 }, (_, i) => `"n${i}":1`).join(',')}}]`,
  },
  { name: 'a name of 10 MB', format: 'json', body: () => `[{"${'x'.repeat(9_900_000)}":1}]` },
  {
    name: 'half a million violations',
    format: 'json',
    body: () => list(5_000, (i) => item(`k${i}`, { checks: new Array(100).fill({}) })),
  },
  {
    name: 'patterns that compile slowly',
    format: 'json',
    body: () =>
      list(2_000, (i) =>
        item(`k${i}`, {
          checks: Array.from({ length: 40 }, (_, j) => ({
            type: 'says',
            pattern: `(?i)[\\x{100}-\\x{ffff}]${i}x${j}`,
          })),
        }),
      ),
  },
  {
    name: 'billion laughs',
    format: 'yaml',
    body: () =>
      `- &a [${'x,'.repeat(9)}]\n${[...'bcdefghij']
        .map((name, i) => `- &${name} [${`*${'abcdefghij'[i]},`.repeat(9)}]\n`)
        .join('')}`,
  },
  {
    name: 'nine thousand aliases of a long text',
    format: 'yaml',
    body: () =>
      `- {key: &t "${'x'.repeat(90_000)}"}\n${Array.from({ length: 4_500 }, () => `- {name: *t, scenarioText: *t}\n`).join('')}`,
  },
  { name: 'a million keys of YAML', format: 'yaml', body: () => '? '.repeat(MEBIBYTE - 1) },
  {
    name: 'YAML of empty lists, compressed',
    format: 'yaml',
    body: () => gzipSync(`[${repeated('[],', 2 * MEBIBYTE - 10)}]`),
    encoding: 'gzip',
  },
  {
    name: 'YAML of names, compressed',
    format: 'yaml',
    body: () => gzipSync(Array.from({ length: 150_000 }, (_, i) => `- n${i}: 1\n`).join('')),
    encoding: 'gzip',
  },
  { name: 'YAML of anchors', format: 'yaml', body: () => repeated('- &a x\n', 2 * MEBIBYTE - 10) },
  { name: 'CSV of quotes', format: 'csv', body: () => '"'.repeat(10 * MEBIBYTE - 10) },
  {
    name: 'CSV of short lines, compressed',
    format: 'csv',
    body: () => gzipSync(`key,name,scenarioText,personalityId\n${repeated('a\n', 10 * MEBIBYTE - 100)}`),
    encoding: 'gzip',
  },
  {
    name: 'CSV of lists in cells',
    format: 'csv',
    body: () =>
      `key,name,scenarioText,personalityId,checks\n${repeated(`a,b,c,d,"[${'{},'.repeat(600)}{}]"\n`, 10 * MEBIBYTE - 100)}`,
  },
];
