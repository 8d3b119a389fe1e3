import type { WireFinding } from '../facts/facts.js';

/** The wire findings of a call. A repeated deviation is one finding, with the time of the first occurrence. */
export class WireFindings {
  private readonly byCode = new Map<string, { readonly first: WireFinding; count: number }>();

  add(finding: WireFinding): void {
    const known = this.byCode.get(finding.code);
    if (known) known.count++;
    else this.byCode.set(finding.code, { first: finding, count: 1 });
  }

  /** A copy with further findings. */
  with(more: readonly WireFinding[]): WireFindings {
    const copy = new WireFindings();
    for (const [code, known] of this.byCode) copy.byCode.set(code, { ...known });
    for (const finding of more) copy.add(finding);
    return copy;
  }

  /** In order of the first occurrence, starting before the answer. */
  list(): WireFinding[] {
    return [...this.byCode.values()]
      .map(({ first, count }) => (count === 1 ? first : { ...first, detail: `${first.detail} (${count} times)` }))
      .sort((a, b) => (a.atMs ?? -1) - (b.atMs ?? -1));
  }
}
