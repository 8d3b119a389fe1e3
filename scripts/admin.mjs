// The admin command: builds the project if necessary and runs the compiled program.
import { built } from './build-if-stale.mjs';

await import(built('dist/src/admin/main.js', 1));
