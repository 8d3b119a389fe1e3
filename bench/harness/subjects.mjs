import { start } from './processes.mjs';

/** What `npm start` gives it, see docs/performance.md, "Memory". */
export const AS_NPM_START = {
  nodeArgs: ['--max-semi-space-size=8', '--heap-growing-percent=85'],
  ownEnv: { MALLOC_ARENA_MAX: '2' },
};

/** The service, from the project's root. */
export const PROGRAM = 'dist/bundle/main.js';

/** What is compared; `express` is the measure and `node` the limit. */
export const SUBJECTS = [
  { name: 'service', title: 'This service', script: PROGRAM, ...AS_NPM_START },
  { name: 'express', title: 'Express 5 + pg', script: 'bench/baselines/express.mjs' },
  { name: 'fastify', title: 'Fastify + pg', script: 'bench/baselines/fastify.mjs' },
  { name: 'node', title: 'node:http + pg', script: 'bench/baselines/node.mjs' },
];

export async function startSubjects(env) {
  const started = [];
  for (const subject of SUBJECTS) started.push(await start({ ...subject, env }));
  return started;
}
