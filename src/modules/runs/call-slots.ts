/** Channel of PostgreSQL's NOTIFY: calls are due. Retries are not announced: every process looks for due calls each second. */
export const CALLS_DUE = 'calls_due';

/**
 * How many slots of a process for calls of a medium are for workspaces that hold none: a call is never interrupted and may last
 * an hour.
 */
export const keptSlots = (slots: number): number => Math.max(1, Math.floor(slots / 10));

/** How many calls of one workspace a process executes while no other one has any. */
export const slotsOfOne = (slots: number): number => Math.max(1, slots - keptSlots(slots));
