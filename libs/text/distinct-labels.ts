/**
 * A short label for each of several things that tells it from the others: the first of its names that differs among them,
 * with one more, or all, where that is needed. Things with the same names are numbered.
 * @param things names of each thing, the most telling one first; null for one that it does not have
 */
export function distinctLabels(things: readonly (readonly (string | null)[])[]): string[] {
  const differing = (things[0] ?? []).flatMap((_, at) =>
    new Set(things.map((names) => names[at])).size > 1 ? [at] : [],
  );
  const labelsOf = (used: readonly number[]) => things.map((names) => used.flatMap((at) => names[at] ?? []).join(', '));
  const [first = 0, ...others] = differing;
  for (const used of [[first], ...others.map((at) => [first, at]), differing]) {
    const labels = labelsOf(used);
    if (new Set(labels).size === things.length && !labels.includes('')) return labels;
  }
  return labelsOf(differing).map((label, at) => `${label || (things[at]!.find(Boolean) ?? '')} #${at + 1}`.trim());
}
