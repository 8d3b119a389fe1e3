/** Channels of PostgreSQL's NOTIFY; the payload is the run's id. */
export const RUN_CANCELLED = 'run_cancelled';
export const RUN_ENDED = 'run_ended';
