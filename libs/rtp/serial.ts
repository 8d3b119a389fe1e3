/** How far a 16-bit number is after another one: -32768 to 32767. */
export const distance16 = (later: number, earlier: number): number => ((later - earlier) << 16) >> 16;

/** How far a 32-bit number is after another one: -2^31 to 2^31 - 1. */
export const distance32 = (later: number, earlier: number): number => (later - earlier) | 0;
