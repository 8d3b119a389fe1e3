/**
 * Client of the service: runs with types from `openapi.json`, and the command `vat` for CI (`main.ts`). Uses only the HTTP
 * API.
 *
 *     const service = new Service({ url: 'https://vat.example.com', apiKey });
 *     const run = await service.startRun(agentId, { tags: ['booking'], repeat: 3 });
 *     for await (const event of follow(service, run.id, { signal })) console.log(event);
 *
 * Text of agents and users is untrusted: it is printed to terminals, logs and Markdown only through `text.ts`.
 */
export type { components, operations, paths } from './api.js';
export { CommandError, EXIT, type ExitCode, RefusedError, UnreachableError } from './errors.js';
export { type CallEvent, follow, type FollowOptions, hasEnded, type RunEvent } from './follow.js';
export type { ServiceOptions } from './requests.js';
export { type Call, type RunDetails, type RunPlan, Service, type StartRunRequest } from './service.js';
export { exitCodeOf, type EvaluationSummary, summarise, type Summary } from './summary.js';
