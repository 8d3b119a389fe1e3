// The administrator's command: builds the project if that was not done yet, then hands over.
import { buildIfStale } from './build-if-stale.mjs';

await import(buildIfStale('dist/src/admin/main.js', 1));
