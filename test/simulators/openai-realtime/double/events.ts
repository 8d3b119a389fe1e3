import type { RealtimeServerEvent } from 'openai/resources/realtime/realtime';

type Unsent<Event> = Event extends unknown ? Omit<Event, 'event_id'> : never;

let count = 0;

/** An event as the platform sends it: checked against the typings of its vendor's package. */
export const event = (fields: Unsent<RealtimeServerEvent>): string =>
  JSON.stringify({ event_id: `event_${++count}`, ...fields });

/** A tone in mu-law at 8,000 Hz. */
export const tone = (ms: number): Buffer =>
  Buffer.from(Array.from({ length: 8 * ms }, (_byte, n) => mulaw(8_000 * Math.sin((2 * Math.PI * 440 * n) / 8_000))));

/** ITU-T G.711. */
function mulaw(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const magnitude = Math.min(32_635, Math.abs(Math.round(sample))) + 132;
  const exponent = Math.floor(Math.log2(magnitude)) - 7;
  return ~(sign | (exponent << 4) | ((magnitude >> (exponent + 3)) & 0x0f)) & 0xff;
}
