// The load, in a process of its own: so many connections, each with one request under way at a time. Raw sockets, since
// the client shares the machine with what it measures: an HTTP library would cost as much as some of the subjects.
import { once } from 'node:events';
import { connect } from 'node:net';

const END_OF_HEADERS = Buffer.from('\r\n\r\n');

/** A connection that sends one request after the other, each as soon as the one before was answered. */
class Client {
  constructor(port) {
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.socket.on('data', (chunk) => this.onData(chunk));
    this.head = undefined;
    this.missing = -1;
  }

  /** @param next gives the next request as bytes, or undefined when it is over */
  run(next, onAnswer) {
    return new Promise((resolve, reject) => {
      this.socket.once('error', reject).once('close', () => reject(new Error('The server closed a connection')));
      this.onEnd = (status) => {
        onAnswer(performance.now() - this.sentAt, status);
        send();
      };
      const send = () => {
        const request = next();
        if (request === undefined) return resolve();
        this.sentAt = performance.now();
        this.socket.write(request);
      };
      send();
    });
  }

  onData(chunk) {
    if (this.missing < 0) {
      const bytes = this.head ? Buffer.concat([this.head, chunk]) : chunk;
      const end = bytes.indexOf(END_OF_HEADERS);
      if (end < 0) return void (this.head = bytes);
      const head = bytes.latin1Slice(0, end);
      this.head = undefined;
      this.status = Number(head.slice(9, 12));
      const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? [];
      if (length === undefined) return void this.socket.destroy(new Error('An answer without Content-Length'));
      this.missing = Number(length) - (bytes.length - end - END_OF_HEADERS.length);
    } else {
      this.missing -= chunk.length;
    }
    if (this.missing > 0) return;
    this.missing = -1;
    this.onEnd(this.status);
  }

  close() {
    this.socket.removeAllListeners('close').destroy();
  }
}

const bytesOf = ({ method, path, key, body }) => {
  const content = body === undefined ? '' : JSON.stringify(body);
  const type = body === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${content.length}\r\n`;
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n${type}\r\n${content}`,
  );
};

/** Answered by every subject, with whatever status. */
const GREETING = Buffer.from('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');

/**
 * Waits until each connection was answered once: Node accepts one connection in each turn of its event loop (libuv since
 * 1.45), so that under load the last of many would not be there for seconds.
 */
const greet = (clients) =>
  Promise.all(
    clients.map((client) => {
      let greetings = 1;
      return client.run(
        () => (greetings-- > 0 ? GREETING : undefined),
        () => undefined,
      );
    }),
  );

/** @returns requests per second and latencies in milliseconds */
async function measure({ ports, requests, connections, ms }) {
  const all = requests.map(bytesOf);
  const clients = Array.from({ length: connections }, (_, i) => new Client(ports[i % ports.length]));
  await Promise.all(clients.map((client) => once(client.socket, 'connect')));
  await greet(clients);
  const latencies = [];
  const errors = new Map();
  let sent = 0;
  const began = performance.now();
  const next = () => (performance.now() - began < ms ? all[sent++ % all.length] : undefined);
  const onAnswer = (latency, status) => {
    if (status >= 200 && status < 300) latencies.push(latency);
    else errors.set(status, (errors.get(status) ?? 0) + 1);
  };
  try {
    await Promise.all(clients.map((client) => client.run(next, onAnswer)));
  } finally {
    for (const client of clients) client.close();
  }
  // Until the last answer, not until the last question: slow answers would otherwise count for nothing, or too much.
  const seconds = (performance.now() - began) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? NaN;
  return { rate: latencies.length / seconds, p50: at(0.5), p99: at(0.99), errors: Object.fromEntries(errors) };
}

process.on('message', ({ id, job }) => {
  measure(job).then(
    (result) => process.send({ id, result }),
    (error) => process.send({ id, error: error.message }),
  );
});
process.on('disconnect', () => process.exit());
// Ctrl-C reaches the whole group; the harness decides when it is over.
process.on('SIGINT', () => undefined);
