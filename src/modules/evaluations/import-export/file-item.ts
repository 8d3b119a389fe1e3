import { invalidInput } from '../../../platform/errors/domain-error.js';
import { MAX_ITEMS } from './media-types.js';

/** An evaluation in a file. */
export interface FileItem {
  readonly value: unknown;
  /** Position in the file, for issues: `[3]` or `line 5`. */
  readonly place: string;
  /** Separates the position from the path of a field. */
  readonly separator: '.' | ': ';
  /** Violations that the format itself found, as sentences that begin with a field. */
  readonly violations: readonly string[];
}

/** @throws DomainError BAD_REQUEST for more evaluations than one file may hold */
export function mustFit(count: number): void {
  if (count > MAX_ITEMS) throw invalidInput(`body must hold at most ${MAX_ITEMS} evaluations`);
}
