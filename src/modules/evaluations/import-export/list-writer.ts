/** The lists of a file, in the order in which they are written. */
export type FileList = 'personalities' | 'evaluations';

/** Writes one list of a file, part by part. */
export interface ListWriter {
  readonly head: string;
  item(item: object, isFirst: boolean): string;
  tail(isEmpty: boolean): string;
}
