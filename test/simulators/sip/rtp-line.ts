import { createSocket, type Socket } from 'node:dgram';
import type { OfferedMedia } from './called-party.js';

/**
 * How the sender behaves: `steady` sends silence as well; the others send nothing in silence. The timestamps of `standing`
 * stand still in silence; `ahead` sends each sound 240 ms before it is to be heard.
 */
export type Sender = 'steady' | 'standing' | 'ahead';

export interface RtpLineOptions {
  readonly sender?: Sender;
  /** Each packet comes up to so much later. */
  readonly jitterMs?: number;
  /** Share of packets that are lost. */
  readonly loss?: number;
  readonly seed?: number;
}

const PACKET_MS = 20;
const PACKET_BYTES = 160;
const SILENCE = 0xff;
const AHEAD_MS = 240;
const TICK_MS = 5;
const KEYS = '0123456789*#ABCD';

/** The media of one call in PCMU: what the agent gives is paced into packets, as the playout buffer of a platform is. */
export class RtpLine {
  onSound: (mulaw: Uint8Array, timestampMs: number) => void = () => undefined;
  onKey: (key: string) => void = () => undefined;
  onMark: (name: string) => void = () => undefined;
  private readonly queue: (Buffer | string)[] = [];
  private readonly ssrc = Math.trunc(Math.random() * 2 ** 32);
  private readonly startMs = performance.now();
  private readonly timer = setInterval(() => this.tick(performance.now()), TICK_MS);
  private sequence = 0;
  private timestamp = 0;
  private packets = 0;
  private queuedAt = 0;
  private spurt: { readonly atMs: number; sent: number } | undefined;
  private firstTimestamp: number | undefined;
  private lastKeyAt: number | undefined;
  private state: number;

  private constructor(
    private readonly socket: Socket,
    private readonly far: OfferedMedia,
    private readonly options: RtpLineOptions,
  ) {
    this.state = options.seed ?? 1;
    socket.on('message', (packet) => this.receive(packet));
    socket.on('error', () => undefined);
  }

  static async open(far: OfferedMedia, options: RtpLineOptions): Promise<RtpLine> {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    return new RtpLine(socket, far, options);
  }

  get port(): number {
    return this.socket.address().port;
  }

  play(mulaw: Uint8Array): void {
    if (this.queue.length === 0) this.queuedAt = performance.now();
    this.queue.push(Buffer.from(mulaw));
    this.tick(performance.now());
  }

  /** It is reported when what is in front of it was played. */
  mark(name: string): void {
    this.queue.push(name);
    this.passMarks();
  }

  clear(): void {
    const marks = this.queue.filter((one) => typeof one === 'string');
    this.queue.length = 0;
    marks.forEach((name) => this.onMark(name));
  }

  close(): void {
    clearInterval(this.timer);
    this.socket.close();
  }

  private tick(now: number): void {
    if ((this.options.sender ?? 'steady') !== 'steady') return this.sendSpurts(now);
    for (; this.startMs + PACKET_MS * (this.packets + 1) <= now; this.packets++) {
      // A packet has the sound of the 20 ms before it is sent.
      const start = this.startMs + PACKET_MS * this.packets;
      const late = Math.max(0, Math.min(PACKET_BYTES, Math.round((this.queuedAt - start) * 8)));
      const payload = Buffer.alloc(PACKET_BYTES, SILENCE);
      this.take(PACKET_BYTES - late).copy(payload, late);
      this.send(payload, PACKET_BYTES * this.packets);
    }
  }

  private sendSpurts(now: number): void {
    const ahead = this.options.sender === 'ahead' ? AHEAD_MS : 0;
    if (!this.spurt && !this.hasSound()) return;
    if (!this.spurt) {
      this.spurt = { atMs: now, sent: 0 };
      if (ahead > 0) this.timestamp = Math.round((now - this.startMs) * 8);
    }
    const { spurt } = this;
    for (; spurt.atMs + PACKET_MS * spurt.sent - ahead <= now; spurt.sent++) {
      if (!this.hasSound()) {
        if (spurt.atMs + PACKET_MS * spurt.sent <= now) this.spurt = undefined;
        return;
      }
      const payload = Buffer.alloc(PACKET_BYTES, SILENCE);
      this.take(PACKET_BYTES).copy(payload);
      this.send(payload, this.timestamp);
      this.timestamp += PACKET_BYTES;
    }
  }

  private hasSound(): boolean {
    return this.queue.some((one) => typeof one !== 'string');
  }

  private take(most: number): Buffer {
    const parts: Buffer[] = [];
    let left = most;
    this.passMarks();
    while (left > 0 && this.queue.length > 0) {
      const [first] = this.queue as [Buffer];
      parts.push(first.subarray(0, left));
      if (first.length > left) this.queue[0] = first.subarray(left);
      else this.queue.shift();
      left -= Math.min(left, first.length);
      this.passMarks();
    }
    return Buffer.concat(parts);
  }

  private passMarks(): void {
    while (typeof this.queue[0] === 'string') this.onMark(this.queue.shift() as string);
  }

  private send(payload: Buffer, timestamp: number): void {
    const header = Buffer.alloc(12);
    header[0] = 0x80;
    header.writeUInt16BE(this.sequence++ & 0xffff, 2);
    header.writeUInt32BE(timestamp >>> 0, 4);
    header.writeUInt32BE(this.ssrc >>> 0, 8);
    const packet = Buffer.concat([header, payload]);
    const { loss = 0, jitterMs = 0 } = this.options;
    if (this.random() < loss) return;
    const delay = this.random() * jitterMs;
    if (delay < 1) this.write(packet);
    else setTimeout(() => this.write(packet), delay);
  }

  private write(packet: Buffer): void {
    try {
      this.socket.send(packet, this.far.port, this.far.address);
    } catch {
      // The call has ended.
    }
  }

  private receive(packet: Buffer): void {
    const type = packet[1]! & 0x7f;
    if (packet.length < 13 || packet[0]! >> 6 !== 2 || packet[1]! >= 192) return;
    const timestamp = packet.readUInt32BE(4);
    if (type === 0) {
      this.firstTimestamp ??= timestamp;
      this.onSound(packet.subarray(12), ((timestamp - this.firstTimestamp) | 0) / 8);
    }
    if (type !== this.far.keys || timestamp === this.lastKeyAt) return;
    this.lastKeyAt = timestamp;
    const key = KEYS[packet[12]!];
    if (key !== undefined) this.onKey(key);
  }

  /** Numbers from 0 to 1, the same ones for the same seed. */
  private random(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}
