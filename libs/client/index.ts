/**
 * A client of the service: its runs with types from `openapi.json`, and the command `vat` for CI (`main.ts`). Knows the
 * service by its HTTP API only.
 *
 *     const service = new Service({ url: 'https://vat.example.com', apiKey });
 *     const run = await service.startRun(agentId, { tags: ['booking'], repeat: 3 });
 *     for await (const event of follow(service, run.id, { signal })) console.log(event);
 *
 * What agents and users wrote is hostile to terminals and to Markdown: `text.ts` is the one way into either.
 */
export type { components, operations, paths } from './api.js';
export { CommandError, EXIT, type ExitCode, RefusedError, UnreachableError } from './errors.js';
export { type CallEvent, follow, type FollowOptions, hasEnded, type RunEvent } from './follow.js';
export {
  type Call,
  type RunDetails,
  type RunPlan,
  Service,
  type ServiceOptions,
  type StartRunRequest,
} from './service.js';
export { exitCodeOf, type EvaluationSummary, summarise, type Summary } from './summary.js';
