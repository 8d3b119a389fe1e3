import { start } from './processes.mjs';

/** What is compared; `express` is the measure and `node` the limit. */
export const SUBJECTS = [
  { name: 'service', title: 'This service', script: 'dist/src/main.js' },
  { name: 'express', title: 'Express 5 + pg', script: 'bench/baselines/express.mjs' },
  { name: 'fastify', title: 'Fastify + pg', script: 'bench/baselines/fastify.mjs' },
  { name: 'node', title: 'node:http + pg', script: 'bench/baselines/node.mjs' },
];

export async function startSubjects(env) {
  const started = [];
  for (const subject of SUBJECTS) started.push(await start({ ...subject, env }));
  return started;
}
