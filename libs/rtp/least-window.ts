/** Least value of the last milliseconds, in constant time per value on average. */
export class LeastWindow {
  /** Values in ascending order of value and time: each may become the least one. */
  private rows: { readonly atMs: number; readonly value: number }[] = [];

  constructor(private readonly ms: number) {}

  /** @returns the least value since `atMs - ms` */
  add(atMs: number, value: number): number {
    while (this.rows.length > 0 && this.rows.at(-1)!.value >= value) this.rows.pop();
    this.rows.push({ atMs, value });
    const expired = this.rows.findIndex((row) => row.atMs > atMs - this.ms);
    if (expired > 0) this.rows.splice(0, expired);
    return this.rows[0]!.value;
  }

  clear(): void {
    this.rows = [];
  }
}
