/**
 * A short label for each of several things that tells it from the others: the first of its names that differs among them,
 * with further ones only as far as needed. Things with the same names are numbered.
 * @param things names of each thing, the most telling one first; null for one that it does not have
 */
export function distinctLabels(things: readonly (readonly (string | null)[])[]): string[] {
  const differing = (things[0] ?? []).flatMap((_, at) =>
    new Set(things.map((names) => names[at])).size > 1 ? [at] : [],
  );
  const labelsOf = (used: number) =>
    things.map((names) =>
      differing
        .slice(0, used)
        .map((at) => names[at] ?? '–')
        .join(', '),
    );
  const enough = differing.findIndex((_, index) => new Set(labelsOf(index + 1)).size === things.length);
  if (enough !== -1) return labelsOf(enough + 1);
  const labels = differing.length > 0 ? labelsOf(differing.length) : things.map((names) => names.find(Boolean) ?? '');
  return labels.map((label, index) => `${label} #${index + 1}`.trim());
}
