import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** How the proxy treats requests: as a proxy, or refusing all of them with a status or with silence. */
export type Mode = 'open' | 'silent' | 403 | 407 | 502;

export interface ForwardProxy {
  readonly port: number;
  readonly url: string;
  /** Target and credentials of each request, such as `CONNECT vat.example.com:443 Basic …`. */
  readonly seen: string[];
  mode: Mode;
  close(): Promise<void>;
}

/**
 * A proxy as those of companies: it alone resolves the names of hosts (here all to this machine, at the port of the URL), and
 * may demand credentials.
 * @param token value of `Proxy-Authorization` that it demands
 */
export async function startForwardProxy({ token }: { token?: string } = {}): Promise<ForwardProxy> {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const proxy = { mode: 'open' as Mode };
  /** The status with which it refuses a request; 0 if it does not answer. */
  const refusal = ({ method, url, headers }: IncomingMessage): number | undefined => {
    const credentials = headers['proxy-authorization'];
    seen.push(`${method} ${url} ${credentials ?? ''}`.trim());
    if (proxy.mode === 'silent') return 0;
    if (proxy.mode !== 'open') return proxy.mode;
    return token !== undefined && credentials !== token ? 407 : undefined;
  };
  const server = createServer((incoming: IncomingMessage, response: ServerResponse) => {
    const status = refusal(incoming);
    if (status === 0) return;
    if (status !== undefined)
      return void response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>No</h1>');
    const { port, pathname, search } = new URL(incoming.url ?? '');
    const { 'proxy-authorization': _, ...headers } = incoming.headers;
    const options = { host: '127.0.0.1', port, path: pathname + search, method: incoming.method, headers };
    const forwarded = request(options, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    incoming.pipe(forwarded);
  });
  server.on('connect', (incoming: IncomingMessage, socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    const status = refusal(incoming);
    if (status === 0) return;
    if (status !== undefined) return void socket.end(`HTTP/1.1 ${status} Refused\r\n\r\n`);
    const target = connect(Number(incoming.url?.split(':').at(-1)), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.pipe(socket);
      socket.pipe(target);
    });
    target.on('error', () => socket.destroy());
    sockets.add(target);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(proxy, {
    port,
    url: `http://127.0.0.1:${port}`,
    seen,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
