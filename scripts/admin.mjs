// The admin command: builds the project if necessary and runs the compiled program with the settings of the service.
import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';
import { fileURLToPath } from 'node:url';
import { built } from './build-if-stale.mjs';

const settings = fileURLToPath(new URL('../.env', import.meta.url));
// As `npm start` does; the environment takes precedence.
if (existsSync(settings)) loadEnvFile(settings);

await import(built('dist/src/admin/main.js', 1));
