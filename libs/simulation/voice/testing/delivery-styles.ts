import { amplitudeOf, decodeMulaw, encodeMulaw, FRAME_MS, Random, TELEPHONE_RATE } from '../../../audio/index.js';
import type { InProcessMediaAgentFactory } from '../call/in-process-agent.js';
import { speech } from './virtual-calls.js';

const FRAME_SAMPLES = (TELEPHONE_RATE * FRAME_MS) / 1_000;
const ROOM_TONE_DBFS = -70;
const AHEAD_MS = 40;
const MAX_JITTER_MS = 40;

/** How an agent sends its audio. */
export const DELIVERY_STYLES = ['burst', 'paced', 'room tone', '40 ms ahead', 'jitter'] as const;
export type DeliveryStyle = (typeof DELIVERY_STYLES)[number];

export interface DeliveryOptions {
  readonly style: DeliveryStyle;
  /** From the end of what it heard to its answer. */
  readonly delayMs: number;
  readonly answerMs: number;
}

/** An agent that answers each line of the caller. It hears by level, and sends in its style. */
export const delivering =
  ({ style, delayMs, answerMs }: DeliveryOptions): InProcessMediaAgentFactory =>
  (socket) => {
    const random = new Random(1);
    /** What is left to be said. */
    let unsaid: Int16Array = new Int16Array(0);
    let heardUntil: number | undefined;
    /** Until when the caller can hear what was produced, in call time. */
    let producedMs = 0;
    const underway: { readonly atMs: number; readonly bytes: Uint8Array }[] = [];
    const isStreaming = style === 'room tone' || style === 'jitter' || style === '40 ms ahead';
    const aheadMs = style === '40 ms ahead' ? AHEAD_MS : 0;

    const frame = (): Int16Array => {
      const pcm = Int16Array.from({ length: FRAME_SAMPLES }, () => random.gaussian() * amplitudeOf(ROOM_TONE_DBFS));
      pcm.set(unsaid.subarray(0, FRAME_SAMPLES));
      unsaid = unsaid.subarray(FRAME_SAMPLES);
      return pcm;
    };
    const send = (now: number, pcm: Int16Array) => {
      const last = underway.at(-1)?.atMs ?? 0;
      const lateMs = style === 'jitter' ? random.next() * MAX_JITTER_MS : 0;
      underway.push({ atMs: Math.max(last, now + lateMs), bytes: encodeMulaw(pcm) });
    };
    const produce = (now: number) => {
      if (style === 'burst') {
        if (unsaid.length > 0) send(now, unsaid);
        unsaid = new Int16Array(0);
        return;
      }
      if (!isStreaming && unsaid.length === 0) return;
      producedMs = Math.max(producedMs, now - FRAME_MS);
      while (producedMs <= now + aheadMs && (isStreaming || unsaid.length > 0)) {
        send(now, frame());
        producedMs += FRAME_MS;
      }
    };
    return {
      onMessage: (now, data) => {
        if (typeof data === 'string') return;
        if (decodeMulaw(data).some((sample) => Math.abs(sample) > 1_000)) heardUntil = now;
      },
      tick: (now) => {
        if (heardUntil !== undefined && now >= heardUntil + delayMs) {
          heardUntil = undefined;
          unsaid = speech(answerMs);
        }
        produce(now);
        while (underway.length > 0 && underway[0]!.atMs <= now) socket.send(underway.shift()!.bytes);
      },
    };
  };
