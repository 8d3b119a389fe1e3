/** Keys that come first, in this order; all others follow by name. */
const FIRST = ['openapi', 'info', 'servers', 'tags', 'paths', 'get', 'post', 'put', 'patch', 'delete', 'components'];

const rank = (key: string): number => (FIRST.includes(key) ? FIRST.indexOf(key) : FIRST.length);
const byRankAndName = ([a]: [string, unknown], [b]: [string, unknown]): number => rank(a) - rank(b) || (a < b ? -1 : 1);

/**
 * The document with its keys in a fixed order, so that moving code does not change the committed file and an API change
 * shows in review.
 */
export function ordered<T>(node: T): T {
  if (Array.isArray(node)) return node.map(ordered) as T;
  if (typeof node !== 'object' || node === null) return node;
  const entries = (Object.entries(node) as [string, unknown][]).sort(byRankAndName);
  return Object.fromEntries(entries.map(([key, value]) => [key, orderedBelow(key, value)])) as T;
}

function orderedBelow(key: string, value: unknown): unknown {
  switch (key) {
    // Values, whose order of keys is the author's.
    case 'default':
    case 'example':
    case 'value':
      return value;
    // Fields stay in the order of the response; the schema of each is ordered.
    case 'properties':
      return Object.fromEntries(Object.entries(value as object).map(([name, schema]) => [name, ordered(schema)]));
    default:
      return ordered(value);
  }
}
