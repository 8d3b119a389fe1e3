import { createDataSource } from './src/bootstrap/data-source.js';

/** For TypeORM's own command line (`typeorm migration:generate`); the address comes from DATABASE_URL. */
export default createDataSource(process.env['DATABASE_URL'] ?? 'postgresql://localhost/postgres');
