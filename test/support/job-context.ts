import type { JobContext } from '../../src/platform/queue/job.js';

/** The context of a job that a test executes itself. */
export const jobContext = (signal = new AbortController().signal): JobContext => ({ signal });
