import { registry } from '../../modules/registry.js';
import { PROTOCOLS } from '../../protocols.js';
import { fixtureWire } from './fixture-wire/index.js';

/** The protocols of the tests; production has only `PROTOCOLS`. */
export const TEST_PROTOCOLS = registry([...PROTOCOLS.all, fixtureWire]);
