/** One evaluation as a file writes it. */
export interface FileItem {
  readonly value: unknown;
  /** Where it stands, as issues name it: `[3]`, or `line 5`. */
  readonly place: string;
  /** What is between the place and the path of a field. */
  readonly separator: '.' | ': ';
  /** Faults that the format itself found, as sentences that begin with a field. */
  readonly faults: readonly string[];
}
