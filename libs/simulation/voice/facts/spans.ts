import type { Span } from './facts.js';

/** Milliseconds that two spans have in common. */
export const overlapOf = (a: Span, b: Span): number =>
  Math.max(0, Math.min(a.endMs, b.endMs) - Math.max(a.startMs, b.startMs));

export const lengthOf = (spans: readonly Span[]): number =>
  spans.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);

export const contains = ({ startMs, endMs }: Span, moment: number): boolean => startMs <= moment && moment < endMs;

/** Rounds to a tenth of a millisecond, which is less than a sample. */
export const tenth = (ms: number): number => Math.round(ms * 10) / 10;
