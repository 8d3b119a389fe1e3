import { invalidInput } from '../../../platform/errors/domain-error.js';
import { MAX_ITEMS } from './media-types.js';

/** One evaluation as a file writes it. */
export interface FileItem {
  readonly value: unknown;
  /** Where it stands, as issues name it: `[3]`, or `line 5`. */
  readonly place: string;
  /** What is between the place and the path of a field. */
  readonly separator: '.' | ': ';
  /** Violations that the format itself found, as sentences that begin with a field. */
  readonly violations: readonly string[];
}

/** @throws DomainError BAD_REQUEST for more evaluations than one file may hold */
export function mustFit(count: number): void {
  if (count > MAX_ITEMS) throw invalidInput(`body must hold at most ${MAX_ITEMS} evaluations`);
}
