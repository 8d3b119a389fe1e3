/** Injection token of the database's address, settled at start: the setting's, or the embedded server's. */
export const DATABASE_URL = Symbol('DATABASE_URL');
