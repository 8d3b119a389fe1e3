export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

export type SourceRefusal = 'foreign_address' | 'refused_address' | 'too_many_sources';

/** So long without a packet from its address, the media may come from another one, once. */
const ABSENT_MS = 2_000;
/** At once: within this time of each other. */
const MOST_SOURCES = 20;
const SOURCES_MS = 5_000;
/** Packets that are sent to an address that has not answered: 5 s of sound. */
const UNANSWERED_PACKETS = 250;

/**
 * Whose packets are accepted and where ours are sent (symmetric RTP). The expected hosts are trusted at any port, because
 * address translators and proxies change it (baresip/baresip#3720); the first packet decides where packets are sent.
 */
export class MediaSource {
  private expected: readonly Endpoint[] = [];
  private latched: Endpoint | undefined;
  private lastMs: number;
  private hasChanged = false;
  private sentUnanswered = 0;
  /** Senders, and when each of them was heard last. */
  private readonly ssrcs = new Map<number, number>();

  /**
   * @param expected the address of the SDP first, then others at which media may come, such as the peer's
   * @param permits whether packets may be sent to an address that is not among the expected ones
   */
  constructor(
    expected: readonly Endpoint[],
    nowMs: number,
    private readonly permits: (address: string) => boolean,
  ) {
    this.expected = expected;
    this.lastMs = nowMs;
  }

  /** Where packets are sent. */
  get target(): Endpoint | undefined {
    return this.latched ?? this.expected[0];
  }

  /** A new SDP of the other side: its address counts again. */
  expect(expected: readonly Endpoint[], nowMs: number): void {
    const isSame = expected[0]?.address === this.expected[0]?.address && expected[0]?.port === this.expected[0]?.port;
    this.expected = expected;
    if (isSame) return;
    this.latched = undefined;
    this.lastMs = nowMs;
    this.sentUnanswered = 0;
  }

  /** Whether a received packet belongs to the call. @param ssrc of an RTP packet; left out for RTCP */
  accept(from: Endpoint, nowMs: number, ssrc?: number): 'accepted' | 'changed' | SourceRefusal {
    const isExpected =
      this.latched?.address === from.address || this.expected.some(({ address }) => address === from.address);
    const isAbsent = nowMs - this.lastMs >= ABSENT_MS;
    if (!isExpected && (this.hasChanged || !isAbsent || ssrc === undefined)) return 'foreign_address';
    if (!isExpected && !this.permits(from.address)) return 'refused_address';
    if (ssrc !== undefined) {
      if (!this.ssrcs.has(ssrc) && !this.hasRoom(nowMs)) return 'too_many_sources';
      this.ssrcs.set(ssrc, nowMs);
      // RTCP has a port of its own, which is not that of the sound.
      if (!this.latched || !isExpected || isAbsent) this.latched = from;
    }
    this.lastMs = nowMs;
    this.sentUnanswered = -Infinity;
    if (isExpected) return 'accepted';
    this.hasChanged = true;
    return 'changed';
  }

  private hasRoom(nowMs: number): boolean {
    if (this.ssrcs.size < MOST_SOURCES) return true;
    for (const [ssrc, heardMs] of this.ssrcs) if (nowMs - heardMs > SOURCES_MS) this.ssrcs.delete(ssrc);
    return this.ssrcs.size < MOST_SOURCES;
  }

  /** Whether one more packet may be sent; counts it. Sending never stops after a packet was received. */
  maySend(): boolean {
    return this.target !== undefined && ++this.sentUnanswered <= UNANSWERED_PACKETS;
  }
}
