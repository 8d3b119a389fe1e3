/**
 * Loaded before a service process (NODE_OPTIONS). Ends the process, or cuts its connection, at a step of a transaction: `KILL_AT` is
 * the `Death` of mortal-workers.ts.
 */
import { writeSync } from 'node:fs';
import pg from 'pg';

const { marker, step, skip = 0 } = JSON.parse(process.env.KILL_AT);
/** Statements since the marker, by connection. */
const counts = new Map();
let left = skip;
const query = pg.Client.prototype.query;

function die(where) {
  writeSync(2, `killed ${where}\n`);
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
}

pg.Client.prototype.query = function (statement, ...rest) {
  const text = String(statement?.text ?? statement);
  const send = () => query.call(this, statement, ...rest);
  if (text.includes(marker)) {
    return send().then((result) => {
      if (result.rowCount > 0 && left-- <= 0) counts.set(this, 0);
      return result;
    });
  }
  if (!counts.has(this)) return send();
  const count = counts.get(this) + 1;
  counts.set(this, count);
  if (/^rollback/i.test(text)) counts.delete(this);
  if (count === step) return die(`before statement ${step}: ${text.trim().replace(/\s+/g, ' ').slice(0, 60)}`);
  if (!/^commit/i.test(text)) return send();
  if (typeof step === 'number') return die(`before COMMIT, statement ${count}`);
  const sent = send();
  // The server gets it; its answer is lost.
  if (step === 'after COMMIT') setImmediate(() => die('after COMMIT'));
  if (step === 'cut at COMMIT') {
    counts.clear();
    left = Infinity;
    setImmediate(() => {
      writeSync(2, 'cut at COMMIT\n');
      this.connection.stream.destroy();
    });
  }
  return sent;
};
