import { type Placement, ReceiveAnchor, type RtpPacket } from '../index.js';

export const DELAY = 30;

export interface Sent {
  readonly sentMs: number;
  readonly packet: RtpPacket;
  /** Time in the network. */
  readonly delayMs?: number;
  readonly address?: string;
}

export function sound(sequence: number, timestamp: number, options: Partial<RtpPacket> = {}): RtpPacket {
  const payload = new Uint8Array(160);
  const [uint16, uint32] = [sequence & 0xffff, timestamp >>> 0];
  return { marker: false, payloadType: 0, ssrc: 1, payload, ...options, sequence: uint16, timestamp: uint32 };
}

/** Packets every 20 ms with a running clock. */
export const steady = (count: number, { first = 0, fromMs = 0, seconds = 0.02 } = {}): Sent[] =>
  Array.from({ length: count }, (_, n) => ({
    sentMs: fromMs + n * seconds * 1_000,
    packet: sound(65_000 + first + n, 4_294_900_000 + 160 * (first + n)),
  }));

/** Spurts of sound whose RTP clock stands still in the silence between them. */
export function frozen(spurts: number, { ahead = 0, silenceMs = 1_500, packets = 40 } = {}): Sent[] {
  return Array.from({ length: spurts * packets }, (_, n) => {
    const [spurt, at] = [Math.floor(n / packets), (n % packets) * 20];
    const startMs = spurt * (packets * 20 + silenceMs);
    return { sentMs: startMs + Math.max(0, at - ahead), packet: sound(n, 160 * n) };
  });
}

export function receive(sent: readonly Sent[], anchor = new ReceiveAnchor()): Placement[] {
  const arrivals = sent.map((one) => ({ ...one, atMs: one.sentMs + (one.delayMs ?? DELAY) }));
  const placed: Placement[] = [];
  let tick = 0;
  for (const { packet, atMs, address } of arrivals.sort((a, b) => a.atMs - b.atMs)) {
    for (; tick <= atMs; tick += 20) placed.push(...anchor.advance(tick));
    placed.push(...anchor.receive(packet, atMs, address));
  }
  return [...placed, ...anchor.advance(tick + 1_000)];
}

/** Heard times by packet, minus the times at which a line without jitter would have delivered them. */
export function errors(sent: readonly Sent[], placed: readonly Placement[]): number[] {
  const due = new Map(sent.map(({ packet, sentMs }) => [packet, sentMs + DELAY]));
  return placed.map(({ packet, heardMs }) => heardMs - due.get(packet)!);
}

export const share = (values: readonly number[], limit: number): number =>
  values.filter((value) => Math.abs(value) <= limit).length / values.length;

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
