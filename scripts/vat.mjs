#!/usr/bin/env node
// The `vat` command: builds the project if necessary and runs the compiled program.
import { buildIfStale } from './build-if-stale.mjs';

await import(buildIfStale('dist/libs/client/main.js', 2));
