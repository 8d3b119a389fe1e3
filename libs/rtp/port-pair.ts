import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';

export interface PortPair {
  readonly rtp: Socket;
  readonly rtcp: Socket;
  /** Even; RTCP has the next one. */
  readonly port: number;
}

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

const EPHEMERAL_ATTEMPTS = 50;

/**
 * Binds an even port and the next one.
 * @param range ports to choose from, beginning at a random one; without it the system chooses
 * @throws Error if none is free, or if the address cannot be bound
 */
export async function bindPortPair(address: string, range?: PortRange): Promise<PortPair> {
  for (const port of range ? evenPorts(range) : new Array<number>(EPHEMERAL_ATTEMPTS).fill(0)) {
    const pair = await bindPair(address, port);
    if (pair) return pair;
  }
  throw new Error(
    range ? `No pair of UDP ports from ${range.first} to ${range.last} is free.` : 'No pair of UDP ports is free.',
  );
}

function evenPorts({ first, last }: PortRange): number[] {
  const lowest = first + (first % 2);
  const pairs = Math.max(0, Math.floor((last - lowest + 1) / 2));
  const start = Math.floor(Math.random() * pairs);
  return Array.from({ length: pairs }, (_, n) => lowest + 2 * ((start + n) % pairs));
}

async function bindPair(address: string, wanted: number): Promise<PortPair | undefined> {
  const rtp = await bind(address, wanted);
  if (!rtp) return undefined;
  const { port } = rtp.address();
  const rtcp = port % 2 === 0 ? await bind(address, port + 1) : undefined;
  if (rtcp) return { rtp, rtcp, port };
  rtp.close();
  return undefined;
}

/** Undefined if the port is taken. */
function bind(address: string, port: number): Promise<Socket | undefined> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  return new Promise((resolve, reject) => {
    socket.once('error', (error: NodeJS.ErrnoException) => {
      socket.close();
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(undefined);
      else reject(error);
    });
    socket.bind({ address, port, exclusive: true }, () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
  });
}
