import { AsyncLocalStorage } from 'node:async_hooks';

/** What this process is doing: a request, a job or a call, by the names that its log lines have. */
export type Activity = Readonly<Record<string, unknown>>;

const current = new AsyncLocalStorage<Activity>();
const inProgress = new Set<Activity>();
/** How many activities one log line names. */
const MAX_NAMED = 20;

/** Does the work under these names, and under those of the activity that it is part of. */
export async function during<T>(names: Activity, work: () => Promise<T>): Promise<T> {
  const activity = { ...current.getStore(), ...names };
  inProgress.add(activity);
  try {
    return await current.run(activity, work);
  } finally {
    inProgress.delete(activity);
  }
}

/**
 * Begins an activity that ends by an event. What the caller's async resource calls later belongs to it: for a request
 * also the parts of its body, which arrive outside of the functions that the caller calls.
 * @returns ends it
 */
export function begin(activity: Activity): () => void {
  inProgress.add(activity);
  current.enterWith(activity);
  return () => void inProgress.delete(activity);
}

/** Whether any activity is in progress. */
export const isBusy = (): boolean => inProgress.size > 0;

/** For the log: the activity that the caller belongs to, if that is known, and others that are in progress. */
export const activities = () => ({
  during: current.getStore(),
  inProgress: [...inProgress].filter((activity) => activity !== current.getStore()).slice(0, MAX_NAMED),
});
