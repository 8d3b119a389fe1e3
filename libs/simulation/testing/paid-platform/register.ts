import { PROTOCOLS } from '../../index.js';
import { registry } from '../../transports/modules/registry.js';
import { paidText, paidVoice } from './modules.js';

/**
 * Adds the protocols of the paid platform to those of this process. API texts and the names that a connection takes are
 * derived from the protocols when they are loaded, so PUT takes the new ones only in a process that did this first.
 * @returns what undoes it: other test files have the same modules
 */
export function addPaidPlatform(): () => void {
  const before = { ...PROTOCOLS };
  Object.assign(PROTOCOLS, registry([...PROTOCOLS.all, paidText, paidVoice]));
  return () => void Object.assign(PROTOCOLS, before);
}

/** For the tests of a file. */
export function usePaidPlatform(): void {
  let undo: () => void;
  beforeAll(() => void (undo = addPaidPlatform()));
  afterAll(() => undo());
}
