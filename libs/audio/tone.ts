import { amplitudeOf, saturate } from './level.js';

/** Fade-in and fade-out of a tone, which avoid clicks. */
const RAMP_MS = 2;

interface ToneOptions {
  /** Samples per second. */
  readonly rate: number;
  readonly ms: number;
  /** RMS level of each frequency. */
  readonly dbfs: number;
}

/** Sum of sines. @param frequencies in hertz */
export function tone(frequencies: readonly number[], { rate, ms, dbfs }: ToneOptions): Int16Array {
  const length = Math.round((ms * rate) / 1_000);
  const ramp = (RAMP_MS * rate) / 1_000;
  const amplitude = amplitudeOf(dbfs) * Math.SQRT2;
  return Int16Array.from({ length }, (_, n) => {
    const sum = frequencies.reduce((total, hz) => total + Math.sin((2 * Math.PI * hz * n) / rate), 0);
    return saturate(amplitude * Math.min(1, n / ramp, (length - 1 - n) / ramp) * sum);
  });
}

const DTMF_ROWS = ['123A', '456B', '789C', '*0#D'];
const DTMF_LOW = [697, 770, 852, 941];
const DTMF_HIGH = [1_209, 1_336, 1_477, 1_633];

/**
 * Signal of a telephone key (ITU-T Q.23): by default 100 ms, both frequencies at -16 dBFS.
 * @param key one of 0 to 9, *, #, A to D
 * @throws RangeError for another key
 */
export function dtmfTone(
  key: string,
  { rate, ms = 100, dbfs = -16 }: Partial<ToneOptions> & { readonly rate: number },
): Int16Array {
  const row = key.length === 1 ? DTMF_ROWS.findIndex((keys) => keys.includes(key)) : -1;
  if (row < 0) throw new RangeError(`${JSON.stringify(key)} is not a telephone key.`);
  return tone([DTMF_LOW[row]!, DTMF_HIGH[DTMF_ROWS[row]!.indexOf(key)]!], { rate, ms, dbfs });
}
