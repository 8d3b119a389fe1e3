interface ScheduledSound {
  /** Its first sample, counted from the start of the stream. */
  readonly start: number;
  readonly pcm: Int16Array;
}

/** The caller's clean sound: sounds at exact samples of the stream, silence between them. */
export class Mouth {
  /** In order of their start; those that have ended are removed. */
  private readonly sounds: ScheduledSound[] = [];
  private readonly mixed: Int16Array;

  constructor(private readonly frameSamples: number) {
    this.mixed = new Int16Array(frameSamples);
  }

  /** @param start first sample, counted from the start of the stream; not in a frame that was rendered already */
  schedule(start: number, pcm: Int16Array): void {
    if (pcm.length === 0) return;
    const position = this.sounds.findLastIndex((sound) => sound.start <= start) + 1;
    this.sounds.splice(position, 0, { start, pcm });
  }

  /** The samples of a frame, valid until the next call; null in silence. Frames are asked for in order. */
  frame(frameNumber: number): Int16Array | null {
    const from = frameNumber * this.frameSamples;
    const to = from + this.frameSamples;
    if (this.sounds.length === 0 || this.sounds[0]!.start >= to) return null;
    this.mixed.fill(0);
    for (const sound of this.sounds) {
      if (sound.start >= to) break;
      this.add(sound, from, to);
    }
    while (this.sounds.length > 0 && endOf(this.sounds[0]!) <= to) this.sounds.shift();
    return this.mixed;
  }

  private add({ start, pcm }: ScheduledSound, from: number, to: number): void {
    const last = Math.min(to, start + pcm.length);
    for (let sample = Math.max(from, start); sample < last; sample++) {
      const sum = this.mixed[sample - from]! + pcm[sample - start]!;
      this.mixed[sample - from] = Math.max(-32_768, Math.min(32_767, sum));
    }
  }
}

const endOf = ({ start, pcm }: ScheduledSound): number => start + pcm.length;
