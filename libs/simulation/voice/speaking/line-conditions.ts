import {
  FRAME_MS,
  Hum,
  type LineRate,
  Loop,
  Noise,
  PacketSchedule,
  Random,
  saturate,
  type SoundSource,
  TelephoneBandFilter,
} from '../../../audio/index.js';
import type { LineConditions } from '../facts/plan.js';

/** Active level of the caller's speech, to which noise and babble are set. */
const SPEECH_DBFS = -26;
/** Background noise of a personality. */
const BACKGROUND_SNR_DB = 15;

export interface LineConditionsOptions {
  readonly rate: LineRate;
  /** Overlaid voices; needed for noise of type `babble` and for background noise. */
  readonly babble?: Int16Array;
  /** Whether a bed of babble lies 15 dB under the caller's speech. */
  readonly backgroundNoise: boolean;
  /** Used where the conditions have no seed. */
  readonly seed: number;
}

/**
 * What a line does to the caller's sound before it is encoded: gain, noise, echo of the agent, telephone band, packet loss
 * and jitter. The same conditions and seed give the same sound for the same frames.
 */
export class LineConditionsFilter {
  private readonly gain: number;
  private readonly echo: number;
  private readonly sources: readonly SoundSource[];
  private readonly band: TelephoneBandFilter | undefined;
  private readonly packets: PacketSchedule;
  private readonly isClean: boolean;
  private sum = new Float64Array(0);

  /** @throws Error if there is no babble although it is needed */
  constructor(conditions: LineConditions, options: LineConditionsOptions) {
    const { gainDb = 0, echoDb, packetLossPercent = 0, jitterMs = 0, band } = conditions;
    const seed = conditions.seed ?? options.seed;
    this.gain = 10 ** (gainDb / 20);
    this.echo = echoDb === undefined ? 0 : 10 ** (echoDb / 20);
    this.sources = sourcesOf(conditions, options, seed);
    this.band = band === 'telephone' ? new TelephoneBandFilter(options.rate) : undefined;
    this.packets = new PacketSchedule({ seed, lossPercent: packetLossPercent, jitterMs, packetMs: FRAME_MS });
    this.isClean = this.gain === 1 && this.echo === 0 && this.sources.length === 0 && !this.band;
  }

  /**
   * The caller's sound as it leaves the line. Takes every frame in order, lost ones too.
   * @param frame clean sound of the caller
   * @param agentFrame what was heard of the agent at the same time
   */
  apply(frame: Int16Array, agentFrame: Int16Array): Int16Array {
    if (this.isClean) return frame;
    if (this.sum.length !== frame.length) this.sum = new Float64Array(frame.length);
    const { sum, gain, echo } = this;
    for (let n = 0; n < frame.length; n++) sum[n] = gain * frame[n]! + echo * (agentFrame[n] ?? 0);
    for (const source of this.sources) source.addTo(sum);
    this.band?.apply(sum);
    const result = new Int16Array(frame.length);
    for (let n = 0; n < result.length; n++) result[n] = saturate(sum[n]!);
    return result;
  }

  /** Whether the line loses a frame; frames count from 0. */
  isLost(frameNumber: number): boolean {
    return this.packets.isLost(frameNumber);
  }

  /** How much later than planned a frame is sent: at least 0, less than `jitterMs`, never before the frame before it. */
  delayMs(frameNumber: number): number {
    return this.packets.delayMs(frameNumber);
  }
}

/** Noise follows the gain, so that it keeps its distance from the speech. */
function sourcesOf(
  { noise, gainDb = 0 }: LineConditions,
  { rate, babble, backgroundNoise }: LineConditionsOptions,
  seed: number,
): SoundSource[] {
  const voices = (snrDb: number, stream: string): SoundSource => {
    if (!babble) throw new Error('The plan of the call has no babble, although its noise needs it.');
    return new Loop(babble, { dbfs: SPEECH_DBFS + gainDb - snrDb, random: new Random(seed, stream) });
  };
  const sources: SoundSource[] = [];
  if (backgroundNoise) sources.push(voices(BACKGROUND_SNR_DB, 'background'));
  if (noise?.type === 'babble') sources.push(voices(noise.snrDb, 'noise'));
  else if (noise) {
    const level = { dbfs: SPEECH_DBFS + gainDb - noise.snrDb, random: new Random(seed, 'noise') };
    sources.push(noise.type === 'hum' ? new Hum({ rate, ...level }) : new Noise(noise.type, level));
  }
  return sources;
}
