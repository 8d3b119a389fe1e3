/**
 * How long is measured. A round is one subject's turn; a slow question is one of which a round holds only a few.
 * `mostDrainMs` bounds the answers still owed at the end of a round: what would owe more is not asked.
 * `heatMs` is for a process that has just started: this service needs some 4 s of load until all of it is compiled.
 */
export const PLANS = {
  quick: {
    name: 'quick',
    rounds: 3,
    slowRounds: 2,
    roundMs: 350,
    heatMs: 4_000,
    warmMs: 250,
    mostDrainMs: 1_000,
    starts: 1,
  },
  full: {
    name: 'full',
    rounds: 5,
    slowRounds: 3,
    roundMs: 1_200,
    heatMs: 6_000,
    warmMs: 1_500,
    mostDrainMs: 4_000,
    starts: 5,
  },
};

/** A question that takes longer is slow, milliseconds. */
export const SLOW_MS = 25;
