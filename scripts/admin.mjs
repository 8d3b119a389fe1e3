// The admin command: builds the project if necessary and runs the compiled program.
import { buildIfStale } from './build-if-stale.mjs';

await import(buildIfStale('dist/src/admin/main.js', 1));
