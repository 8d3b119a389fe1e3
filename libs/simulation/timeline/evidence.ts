/** A place on the timeline that proves a result. */
export interface Evidence {
  /** Index of the timeline entry. */
  readonly entry: number;
  /** The words of that entry, verbatim. */
  readonly quote: string;
}
