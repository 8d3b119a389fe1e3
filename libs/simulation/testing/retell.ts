/** The double of Retell, for tests outside this library. */
export * from '../transports/wires/retell/testing/double/server.js';
