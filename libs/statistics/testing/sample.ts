/** CI executes all cases (.ci/run); other runs of the tests execute some of them, to be over sooner. */
const HAS_ALL_CASES = process.env['ALL_CASES'] === 'true';
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

/**
 * Cases that several test files have in common, each of which executes its share of them; with `ALL_CASES=true` each executes
 * all.
 * @param part of the file, from 0
 * @param parts number of files
 */
export const partOf = <Case>(cases: readonly Case[], part: number, parts: number): readonly Case[] =>
  HAS_ALL_CASES ? cases : cases.filter((_, index) => index % parts === part);
