/**
 * Whether a JSON value contains another: objects may have additional fields, arrays must have the same length and
 * contain each other item by item, and all other values must be equal.
 */
export function containsJson(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part)) {
    return (
      Array.isArray(whole) &&
      part.length === whole.length &&
      part.every((item, index) => containsJson(item, whole[index]))
    );
  }
  if (typeof part !== 'object' || part === null) return part === whole;
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) return false;
  return Object.entries(part).every(
    ([name, value]) => Object.hasOwn(whole, name) && containsJson(value, (whole as Record<string, unknown>)[name]),
  );
}
