/** Pairs of bytes that a decision needs: half a second of 16-bit sound at 8 kHz. */
const PAIRS = 4_000;
/** Bytes without relation are 64 apart on average; on a circle of 256 values the largest distance is 128. */
const RANDOM = 40;
const RATIO = 2;
/** Both means of speech in G.711 are 20 to 58 and differ by at most 6 %; those of loud noise are random in both encodings. */
const G711 = { least: 12, most: 58, ratio: 1.25 } as const;

/**
 * Tells 16-bit PCM from mu-law and A-law. Measures how far bytes that are two positions apart differ, for even and odd positions
 * separately, as distance on the circle of 256 values. In mu-law both positions hold samples of the same sound, so their means
 * are equal for speech, music, noise and tones. In 16-bit PCM one position holds the low bytes, which are as good as random
 * (mean about 64), and the other the high bytes, which change little from sample to sample. Decided for each 4,000 pairs
 * that are not constant: the larger mean is at least 40 and at least twice the smaller one, or the bytes are G.711 if the means
 * are equal and not random.
 */
export class EncodingStatistic {
  /** The last two bytes. */
  private readonly last: [number, number] = [0xff, 0xff];
  private readonly sums: [number, number] = [0, 0];
  private pairs = 0;
  private position = 0;
  private distance = 0;

  /** Adds sound. @returns what it is, if it completes a block that shows it */
  add(sound: Uint8Array): 'pcm16' | 'g711' | undefined {
    let found: 'pcm16' | 'g711' | undefined;
    for (const byte of sound) {
      const parity = (this.position++ & 1) as 0 | 1;
      const difference = Math.abs(byte - this.last[parity]);
      const distance = Math.min(difference, 256 - difference);
      this.last[parity] = byte;
      if (parity === 0) this.distance = distance;
      // Constant sound, such as silence, says nothing.
      else if (this.distance !== 0 || distance !== 0) found = this.pair(this.distance, distance) ?? found;
    }
    return found;
  }

  private pair(even: number, odd: number): 'pcm16' | 'g711' | undefined {
    this.sums[0] += even;
    this.sums[1] += odd;
    if (++this.pairs < PAIRS) return undefined;
    const larger = Math.max(...this.sums) / PAIRS;
    const smaller = Math.min(...this.sums) / PAIRS;
    this.pairs = this.sums[0] = this.sums[1] = 0;
    if (larger >= RANDOM && larger >= RATIO * smaller) return 'pcm16';
    return smaller >= G711.least && larger < G711.most && larger < G711.ratio * smaller ? 'g711' : undefined;
  }
}
