/** Static payload type of comfort noise at 8,000 ticks a second (RFC 3551). */
export const COMFORT_NOISE = 13;

/** Level of comfort noise (RFC 3389) in dBov, 0 to -127; its spectrum is left out. An empty payload has no level. */
export const comfortNoiseLevel = (payload: Uint8Array): number | undefined =>
  payload.length > 0 ? 0 - (payload[0]! & 0x7f) : undefined;

/** Payload of comfort noise of a level in dBov, 0 to -127, without a spectrum. */
export const comfortNoise = (level: number): Uint8Array =>
  Uint8Array.of(Math.min(127, Math.max(0, Math.round(-level))));
