#!/usr/bin/env node
// The command for CI: builds the project if that was not done yet, then hands over.
import { buildIfStale } from './build-if-stale.mjs';

await import(buildIfStale('dist/libs/client/main.js', 2));
