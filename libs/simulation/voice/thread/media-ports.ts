import type { Socket } from 'node:dgram';
import { bindPortPair, isRtcp, type PortPair, type PortRange } from '../../../rtp/index.js';

/** A datagram, and when it arrived on the clock of `performance`. */
export interface Datagram {
  readonly bytes: Uint8Array;
  readonly from: { readonly address: string; readonly port: number };
  readonly at: number;
}

/** What is kept until it is taken: ten seconds of a call before it is connected. The oldest give way. */
const MOST_WAITING = 500;

/** Two UDP ports for RTP and RTCP, which receive before the call is connected. */
export class MediaPorts {
  private waiting: Datagram[] = [];
  /** Datagrams that gave way to others. */
  lost = 0;

  private constructor(private readonly pair: PortPair) {
    for (const socket of [pair.rtp, pair.rtcp]) this.receive(socket);
  }

  /** @throws Error if no port is free, or if the address is not that of this machine */
  static async bind(address: string, range?: PortRange): Promise<MediaPorts> {
    return new MediaPorts(await bindPortPair(address, range));
  }

  get port(): number {
    return this.pair.port;
  }

  take(): Datagram[] {
    return this.waiting.splice(0);
  }

  /** @param rtcpPort where RTCP goes, from the port for it; absent: like RTP */
  send(bytes: Uint8Array, to: Datagram['from'], rtcpPort?: number): void {
    const isApart = rtcpPort !== undefined && isRtcp(bytes);
    const [socket, port] = isApart ? [this.pair.rtcp, rtcpPort] : [this.pair.rtp, to.port];
    // A packet that cannot be sent is lost, as others are on their way.
    socket.send(bytes, port, to.address, () => undefined);
  }

  close(): void {
    this.pair.rtp.close();
    this.pair.rtcp.close();
  }

  private receive(socket: Socket): void {
    socket.on('error', () => undefined);
    socket.on('message', (bytes, { address, port }) => {
      this.waiting.push({ bytes, from: { address, port }, at: performance.now() });
      if (this.waiting.length <= MOST_WAITING) return;
      this.waiting.shift();
      this.lost++;
    });
  }
}
