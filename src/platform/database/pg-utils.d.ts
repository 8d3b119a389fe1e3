/** Left out of @types/pg. */
declare module 'pg/lib/utils.js' {
  const utils: {
    /** A value as it is sent to PostgreSQL. @throws Error for what cannot be sent */
    prepareValue(value: unknown): Buffer | string | null;
  };
  export default utils;
}
