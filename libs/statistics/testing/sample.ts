/** `npm run test:all` executes all cases; other runs of the tests execute some of them, to be over sooner. */
export const HAS_ALL_CASES = process.env['ALL_CASES'] === 'true';
/** The sample has every sixth case. */
const SHARE = 6;

/** How many rounds or random inputs a test has: all of them with `ALL_CASES=true`. */
export const shareOf = (count: number): number => (HAS_ALL_CASES ? count : Math.ceil(count / SHARE));

/**
 * What a test executes of equivalent cases: all of them with `ALL_CASES=true`, else some, at least one and the same ones each
 * time.
 * @param offset chooses other ones, so that several tests together have all cases
 */
export function sample<Case>(cases: readonly Case[], offset = 0): readonly Case[] {
  if (HAS_ALL_CASES) return cases;
  const first = offset % Math.max(1, Math.min(SHARE, cases.length));
  return cases.filter((_, index) => index % SHARE === first);
}

/**
 * A sample of the calls of one agent: of those in which its fault must be found, or of all if there are none.
 * @param offset as for `sample`
 */
export function sampleOfAgent<Cell>(
  cells: readonly Cell[],
  isFound: (cell: Cell) => boolean,
  offset: number,
): readonly Cell[] {
  if (HAS_ALL_CASES) return cells;
  const found = cells.filter(isFound);
  return sample(found.length > 0 ? found : cells, offset);
}

/** The cases that stand for all others; with `ALL_CASES=true` all of them. */
export const sentinels = <Case>(cases: readonly Case[], isSentinel: (one: Case) => boolean): readonly Case[] =>
  HAS_ALL_CASES ? cases : cases.filter(isSentinel);
