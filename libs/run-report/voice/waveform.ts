import { html, type Html } from '../html.js';

/** More points than a screen has pixels would only make the page larger. */
const MAX_POINTS = 800;
const FULL_SCALE = 32_768;

/**
 * The outline of the audio, stretched over the whole width.
 * @param peaks lowest and highest sample of equal parts in turn
 */
export function waveform(kind: string, peaks: ArrayLike<number>, y: number, height: number): Html {
  const parts = Math.floor(peaks.length / 2);
  if (parts === 0) return html``;
  const points = Math.min(parts, MAX_POINTS);
  const upper: string[] = [];
  const lower: string[] = [];
  for (let point = 0; point < points; point++) {
    const { low, high } = extremes(
      peaks,
      Math.floor((point * parts) / points),
      Math.floor(((point + 1) * parts) / points),
    );
    upper.push(`${point} ${level(high)}`);
    lower.unshift(`${point} ${level(low)}`);
  }
  return html`<svg
    class="wave"
    y="${y}"
    width="100%"
    height="${height}"
    viewBox="0 0 ${points - 1 || 1} 200"
    preserveAspectRatio="none"
  >
    <path class="${kind}" d="M${upper.join('L')}L${lower.join('L')}Z" />
  </svg>`;
}

function extremes(peaks: ArrayLike<number>, from: number, to: number) {
  let low = 0;
  let high = 0;
  for (let part = from; part < to; part++) {
    low = Math.min(low, peaks[2 * part]!);
    high = Math.max(high, peaks[2 * part + 1]!);
  }
  return { low, high };
}

/** 0 is the top and 200 the bottom. Quiet speech stays visible, because the height grows with the square root. */
const level = (sample: number): number =>
  Math.round(100 - Math.sign(sample) * Math.sqrt(Math.min(1, Math.abs(sample) / FULL_SCALE)) * 98);
