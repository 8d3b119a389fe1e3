import { DomainError } from '../../../../platform/errors/domain-error.js';

/** The issues with which a file is refused; undefined if it is read. */
export function refusalOf(read: () => unknown): readonly string[] | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return error instanceof DomainError ? error.issues?.map(({ message }) => message) : undefined;
  }
}
