/**
 * How much of something that a process has few of, such as database connections, one workspace may hold: three
 * quarters, rounded down, at least one.
 */
export const workspaceShare = (all: number): number => Math.max(1, Math.floor((all * 3) / 4));
