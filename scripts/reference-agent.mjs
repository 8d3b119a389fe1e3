// Runs the reference agent: `npm run reference-agent -- --help`.
import { importSource } from './compiled-sources.mjs';

await importSource('test/simulators/agent/main.ts');
