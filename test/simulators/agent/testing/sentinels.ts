import type { FaultName } from '../faults.js';

/** A fault of words, one of timing and one of a tool: what stands for all faults over a wire, beside one that has all. */
const SENTINELS: readonly string[] = ['wrong-fact', 'slow-answer', 'wrong-tool-argument'] satisfies FaultName[];

/** @param fault undefined for the healthy agent, which is always among them */
export const isSentinel = (fault: string | undefined): boolean => fault === undefined || SENTINELS.includes(fault);
