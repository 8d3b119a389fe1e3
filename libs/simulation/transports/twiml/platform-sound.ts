import { decodeMulaw, readWav, resample, TELEPHONE_RATE, WavError } from '../../../audio/index.js';
import { type OutboundClient, OutboundError } from '../../../outbound-http/index.js';
import { CallFailure } from '../../timeline/failure.js';
import { OUTBOUND_CODES } from '../http/outbound-failures.js';

/** A minute of 44,100 samples per second has 5 MiB. */
const MAX_BYTES = 6 * 1024 * 1024;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** The conversion from any other rate can take seconds of this thread, which serves all calls. */
const WAV_RATES: ReadonlySet<number> = new Set([8_000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000]);
const MULAW_TYPES = /^audio\/(basic|x-mulaw|mulaw|ulaw)\b/i;
/** Of a file of Sun and NeXT, `.au`: ".snd", then offset of the sound, its length, encoding, rate, channels. */
const AU = { name: '.snd', headerLength: 24, mulaw: 1 } as const;

export interface SoundRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly maxMs: number;
  readonly timeoutMs: number;
}

/** Sound at `TELEPHONE_RATE`, or why it cannot be heard, in a few words. */
export type FetchedSound = { readonly pcm: Int16Array } | { readonly problem: string };

/**
 * Fetches a file that the platform plays for the agent: WAV (16-bit PCM, mu-law, A-law) or mu-law.
 * @returns where it is, if it is redirected
 * @throws the signal's reason
 */
export async function fetchSound(
  client: OutboundClient,
  request: SoundRequest,
): Promise<FetchedSound | { readonly location: string }> {
  const { url, headers, signal, maxMs, timeoutMs } = request;
  try {
    const accept = 'audio/wav, audio/basic, audio/*';
    const sent = { accept, 'user-agent': 'TwilioProxy/1.1', ...headers };
    const limits = { timeoutMs, maxBodyBytes: MAX_BYTES };
    const response = await client.request({ url, method: 'GET', headers: sent, signal, ...limits });
    const { location } = response.headers;
    if (REDIRECTS.has(response.status) && location !== undefined) return { location };
    if (response.status !== 200) return { problem: `it was answered with HTTP ${response.status}` };
    if (response.truncated) return { problem: `it is larger than ${MAX_BYTES / 1024 / 1024} MiB` };
    return decode(response.body, String(response.headers['content-type'] ?? ''), maxMs);
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof OutboundError) return { problem: `the request failed (${problemOf(cause)})` };
    throw cause;
  }
}

const problemOf = ({ reason }: OutboundError): string =>
  new CallFailure(OUTBOUND_CODES[reason]).failure.code.replaceAll('_', ' ');

function decode(body: Buffer, type: string, maxMs: number): FetchedSound {
  const start = body.toString('latin1', 0, 4);
  if (start === AU.name) return decodeAu(body, maxMs);
  if (start !== 'RIFF') {
    const maxSamples = Math.round((maxMs * TELEPHONE_RATE) / 1_000);
    if (MULAW_TYPES.test(type)) return { pcm: decodeMulaw(body.subarray(0, maxSamples)) };
    return { problem: `it is ${type === '' ? 'of an unknown type' : type}, not WAV or µ-law` };
  }
  try {
    const { channels, rate } = readWav(body);
    if (!WAV_RATES.has(rate)) return { problem: `it has ${rate} samples per second, which is not supported` };
    const samples = Math.round((maxMs * rate) / 1_000);
    return { pcm: resample(toMono(channels.map((channel) => channel.subarray(0, samples))), rate, TELEPHONE_RATE) };
  } catch (cause) {
    if (!(cause instanceof WavError)) throw cause;
    return { problem: cause.message.replace(/\.$/, '') };
  }
}

function decodeAu(body: Buffer, maxMs: number): FetchedSound {
  const isLongEnough = body.length >= AU.headerLength;
  const isSupported =
    isLongEnough &&
    body.readUInt32BE(12) === AU.mulaw &&
    body.readUInt32BE(16) === TELEPHONE_RATE &&
    body.readUInt32BE(20) === 1;
  if (!isSupported) return { problem: 'it is an AU file that is not mono µ-law at 8,000 Hz' };
  const offset = body.readUInt32BE(4);
  return { pcm: decodeMulaw(body.subarray(offset, offset + Math.round((maxMs * TELEPHONE_RATE) / 1_000))) };
}

function toMono([left, right]: readonly Int16Array[]): Int16Array {
  if (!left || !right) return left ?? new Int16Array();
  return left.map((sample, n) => Math.round((sample + right[n]!) / 2));
}
