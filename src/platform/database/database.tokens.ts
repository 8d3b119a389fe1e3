/** Injection token of the connection string: from the settings, or of the embedded server. */
export const DATABASE_URL = Symbol('DATABASE_URL');
