/** The double of Retell, for tests outside this library. */
export * from '../../../test/simulators/retell/double/server.js';
