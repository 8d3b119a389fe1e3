import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A network between the service and its database that can be cut, or that can swallow everything without a word. */
export interface TcpProxy {
  /** The database's address by way of the proxy. */
  readonly url: string;
  /** Whether new connections are taken. */
  open: boolean;
  /** Breaks every connection. */
  cut(): void;
  /** Passes nothing on any more, in either direction, on connections that stay open. */
  stall(): void;
  /** Passes on again. */
  resume(): void;
  close(): Promise<void>;
}

export async function createTcpProxy(databaseUrl: string): Promise<TcpProxy> {
  const target = new URL(databaseUrl);
  const pairs = new Set<readonly [Socket, Socket]>();
  let stalled = false;
  const server = createServer((client) => {
    if (!proxy.open) return void client.destroy();
    const upstream = connect(Number(target.port), target.hostname);
    const pair = [client, upstream] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [upstream, client] as const]) {
      from.on('data', (chunk) => to.write(chunk));
      from.on('error', () => undefined);
      from.on('close', () => {
        // Not before what the other end said last has been passed on: an error, most often.
        to.destroySoon();
        pairs.delete(pair);
      });
      if (stalled) from.pause();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  const each = (work: (socket: Socket) => unknown) => pairs.forEach((pair) => pair.forEach(work));
  const proxy: TcpProxy = {
    url: url.toString(),
    open: true,
    cut: () => each((socket) => socket.destroy()),
    stall: () => {
      stalled = true;
      each((socket) => socket.pause());
    },
    resume: () => {
      stalled = false;
      each((socket) => socket.resume());
    },
    close: () => {
      proxy.cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return proxy;
}
