/** PostgreSQL server messages (Frontend/Backend Protocol 3.0, "Message Formats"), for tests that simulate a server. */
function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5, type);
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** AuthenticationOk. */
export const AUTHENTICATED = message('R', Buffer.alloc(4));

/** ReadyForQuery, outside a transaction. */
export const READY = message('Z', Buffer.from('I'));

/** A FATAL ErrorResponse, after which the server closes the connection. */
export const fatal = (sqlstate: string, text: string): Buffer =>
  message('E', Buffer.from(`SFATAL\0C${sqlstate}\0M${text}\0\0`));
