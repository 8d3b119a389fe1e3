/** Worker threads, and a limit on how many tasks run at the same time. */
export { abortable } from './abortable.js';
export { answeredMemory, CallThread, type CallThreadOptions, type ThreadDeath } from './call-thread.js';
export { type OwnedThread, OwnedThreads, type OwnedThreadsOptions } from './owned-threads.js';
export { PrioritySemaphore } from './priority-semaphore.js';
export { serveTasks } from './serve-tasks.js';
export { startThread } from './start-thread.js';
export { ThreadLimitExceeded, ThreadPool } from './thread-pool.js';
export { ThreadPerCall } from './thread-per-call.js';
export { preferThread } from './thread-priority.js';
