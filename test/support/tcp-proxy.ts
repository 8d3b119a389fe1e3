import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy between the service and its database that can break connections or silently stop forwarding. */
export interface TcpProxy {
  /** The database's address through the proxy. */
  readonly url: string;
  /** Whether new connections are accepted. */
  open: boolean;
  /** Breaks all connections. */
  cut(): void;
  /** Stops forwarding in both directions, but keeps the connections open. */
  stall(): void;
  /** Resumes forwarding. */
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
        // After the last data has been forwarded, which is often an error message.
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
