import { Random } from './random.js';

/** Losses and delays of the packets of a line. Packets can be queried in any order and repeatedly. */
export class PacketSchedule {
  private readonly seed: number;
  private readonly lossPercent: number;
  private readonly jitterMs: number;
  private readonly packetMs: number;

  /**
   * @param lossPercent 0 to 100; losses are independent of each other
   * @param jitterMs largest delay
   * @param packetMs time from one packet to the next
   */
  constructor({
    seed,
    lossPercent,
    jitterMs,
    packetMs,
  }: {
    readonly seed: number;
    readonly lossPercent: number;
    readonly jitterMs: number;
    readonly packetMs: number;
  }) {
    this.seed = seed;
    this.lossPercent = lossPercent;
    this.jitterMs = jitterMs;
    this.packetMs = packetMs;
  }

  isLost(packet: number): boolean {
    return this.lossPercent > 0 && this.draw('loss', packet) * 100 < this.lossPercent;
  }

  /**
   * Delay in [0, jitterMs), drawn uniformly. It is longer where a packet would overtake the previous one, since streams keep
   * their order.
   */
  delayMs(packet: number): number {
    if (this.jitterMs <= 0) return 0;
    let delay = 0;
    for (let back = 0; back <= packet && back * this.packetMs < this.jitterMs; back++) {
      delay = Math.max(delay, this.draw('jitter', packet - back) * this.jitterMs - back * this.packetMs);
    }
    return delay;
  }

  private draw(stream: string, packet: number): number {
    return new Random(this.seed, `${stream} ${packet}`).next();
  }
}
