import { AddressFilter } from '../../../outbound-http/index.js';
import { isRefused, isRtcp, MediaSource, SrtpReceiver, SrtpSender } from '../../../rtp/index.js';
import type { DatagramTarget } from '../wire/signalling.js';
import type { Connection } from './connection.js';
import type { Datagram, MediaPorts } from './media-ports.js';

export interface DatagramHandlers {
  /** @param at when it arrived, on the clock of `performance` */
  readonly onMessage: (data: Uint8Array, at: number) => void;
  /** The first packet of the other side was accepted. */
  readonly onFirst: (at: number) => void;
  /** Packets were refused, or come from another address. */
  readonly onNoted: (what: string) => void;
}

/** The packets of a call, decrypted: those of its other side, and ours to the address from which they come. */
export class DatagramConnection implements Connection {
  private readonly source: MediaSource;
  private sender: SrtpSender | undefined;
  private receiver: SrtpReceiver | undefined;
  private isFirst = true;
  private lost = 0;

  constructor(
    private readonly ports: MediaPorts,
    private target: DatagramTarget,
    private readonly handlers: DatagramHandlers,
  ) {
    const filter = new AddressFilter(target.allowedNetworks);
    this.source = new MediaSource(target.expected, performance.now(), (address) => filter.allows(address));
    this.useKeys(undefined);
  }

  send(data: string | Uint8Array): void {
    if (typeof data === 'string' || !this.source.maySend()) return;
    const packet = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    const bytes = isRtcp(data) ? this.sender?.protectRtcp(packet) : this.sender?.protect(packet);
    this.ports.send(bytes ?? data, this.source.target!, this.target.rtcpPort);
  }

  poll(): void {
    for (const datagram of this.ports.take()) this.receive(datagram);
    if (this.ports.lost > this.lost) this.handlers.onNoted('too_many_at_once');
    this.lost = this.ports.lost;
  }

  move(target: DatagramTarget): void {
    const before = this.target.srtp;
    this.target = target;
    this.source.expect(target.expected, performance.now());
    this.useKeys(before);
  }

  drop(): void {
    this.ports.close();
  }

  close(): void {
    this.ports.close();
  }

  private receive({ bytes, from, at }: Datagram): void {
    const isReport = isRtcp(bytes);
    const plain = (isReport ? this.receiver?.unprotectRtcp(bytes) : this.receiver?.unprotect(bytes)) ?? bytes;
    // baresip opens its NAT with an RTCP packet that is not encrypted: harmless, and ignored.
    if (isRefused(plain)) return isReport ? undefined : this.handlers.onNoted(plain.refusal);
    // Too short for a source: refused when it is read.
    const ssrc = isReport || plain.length < 12 ? undefined : Buffer.from(plain.subarray(8, 12)).readUInt32BE();
    const accepted = this.source.accept(from, at, ssrc);
    if (accepted !== 'accepted') this.handlers.onNoted(accepted === 'changed' ? 'changed_address' : accepted);
    if (accepted !== 'accepted' && accepted !== 'changed') return;
    if (this.isFirst) this.handlers.onFirst(at);
    this.isFirst = false;
    this.handlers.onMessage(plain, at);
  }

  /** A new key begins a new stream; the same one goes on, so that its packets cannot be repeated. */
  private useKeys(before: DatagramTarget['srtp']): void {
    const { srtp } = this.target;
    if (srtp?.ours !== before?.ours) this.sender = srtp && new SrtpSender(Buffer.from(srtp.ours, 'base64'));
    if (srtp?.theirs !== before?.theirs) this.receiver = srtp && new SrtpReceiver(Buffer.from(srtp.theirs, 'base64'));
  }
}
