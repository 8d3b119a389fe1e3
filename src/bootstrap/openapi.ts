import 'reflect-metadata';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { NestFactory } from '@nestjs/core';
import { createDataSource } from './data-source.js';
import { AppModule } from '../app.module.js';
import { apiDocument } from '../app.setup.js';
import { readSettings } from '../platform/config/settings.js';
import { KeyRing } from '../platform/encryption/key-ring.js';
import { documentText } from '../platform/openapi/served-document.js';

/** Relative to the compiled file, `dist/src/bootstrap/openapi.js`. */
const FILE = fileURLToPath(new URL('../../../openapi.json', import.meta.url));

/**
 * Writes `openapi.json`, or compares it with the code (`--check`). The application is created but not started, with a
 * data source that never connects: the document depends neither on settings nor on a database.
 */
async function main(check: boolean): Promise<void> {
  const databaseUrl = 'postgresql://nowhere.invalid/none';
  const appContext = {
    settings: readSettings({}),
    dataSource: createDataSource(databaseUrl, 2),
    databaseUrl,
    keyRing: new KeyRing([{ id: 'none', key: Buffer.alloc(32) }]),
  };
  const app = await NestFactory.create(AppModule.forRoot(appContext), { logger: false, abortOnError: false });
  const text = documentText(apiDocument(app));
  if (!check) {
    await writeFile(FILE, text);
    return void process.stdout.write('openapi.json written\n');
  }
  const committed = await readFile(FILE, 'utf8').catch(() => undefined);
  if (committed === text) return void process.stdout.write('openapi.json matches the code\n');
  const state = committed === undefined ? 'is missing' : `differs from the code ${firstDifference(committed, text)}`;
  process.stderr.write(`openapi.json ${state}. Run \`npm run openapi\` and commit the result\n`);
  process.exitCode = 1;
}

/** The first line that differs. */
function firstDifference(committed: string, current: string): string {
  const before = committed.split('\n');
  const line = current.split('\n').findIndex((text, index) => text !== before[index]);
  return `starting at line ${(line < 0 ? before.length - 1 : line) + 1}`;
}

await main(process.argv.includes('--check'));
