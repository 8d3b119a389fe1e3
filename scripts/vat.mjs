#!/usr/bin/env node
// The `vat` command: builds the project if necessary and runs the compiled program.
import { built } from './build-if-stale.mjs';

await import(built('dist/libs/client/main.js', 2));
