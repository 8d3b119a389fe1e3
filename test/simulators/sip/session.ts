import { decodeMulaw, MULAW_SILENCE, Random } from '../../../libs/audio/index.js';
import { FRAME_MS, FRAME_SAMPLES } from '../agent/voice/frames.js';
import type { AgentLine } from '../agent/voice/mouth.js';
import { VoiceAgent, type VoiceAgentOptions } from '../agent/voice/voice-agent.js';
import { readPacket, rtp } from './packets.js';

/** The agent's end: packets, and what its SIP says. */
export interface SipSocket {
  send(data: Uint8Array): void;
  signal?(message: { readonly type: 'ended'; readonly reason: string }): void;
}

/** How its packets are sent, and what the network does to them. */
export interface SipLine {
  /** `still`: no packets in silence, and a timestamp that stands still; `ahead`: packets come 240 ms before they are due. */
  readonly sender?: 'steady' | 'still' | 'ahead';
  readonly jitterMs?: number;
  readonly lossPercent?: number;
  /** Packets sent between these times are lost. */
  readonly lostMs?: readonly [number, number];
  readonly seed?: number;
}

export type SipSessionOptions = VoiceAgentOptions & { readonly line?: SipLine };

export const AHEAD_MS = 240;
const SSRC = 0x5eed;
const KEYS = '0123456789*#ABCD';
const SILENCE = new Uint8Array(FRAME_SAMPLES).fill(MULAW_SILENCE);

/**
 * The reference agent behind a gateway that paces its sound: one packet of G.711 in 20 ms. It has no socket and no timer: its driver
 * passes packets and calls `tick`, with times in milliseconds of one clock.
 */
export class SipAgentSession {
  private readonly agent: VoiceAgent;
  private readonly line: SipLine;
  private readonly random: Random;
  private buffer: { readonly frame: Uint8Array; readonly mark?: string }[] = [];
  private rest: Uint8Array = new Uint8Array(0);
  private sequence = 100;
  private timestamp = 8_000;
  private startedAt: number | undefined;
  private frames = 0;
  private wasSilent = true;
  /** On the network. */
  private travelling: { readonly atMs: number; readonly packet: Buffer }[] = [];
  private heardSequence: number | undefined;
  private keyAt: number | undefined;
  private hasEnded = false;
  /** Tools of the platform, whose results the agent gets at the next tick. */
  private running: readonly string[] = [];

  constructor(
    private readonly socket: SipSocket,
    { line = {}, ...options }: SipSessionOptions,
  ) {
    this.line = line;
    this.random = new Random(line.seed ?? 1);
    this.agent = new VoiceAgent(this.mouthLine(), options);
  }

  onMessage(now: number, data: string | Uint8Array): void {
    const packet = typeof data === 'string' ? undefined : readPacket(data);
    if (!packet || this.hasEnded) return;
    if (this.startedAt === undefined) {
      this.startedAt = now;
      this.agent.start(now);
    }
    const lost = this.heardSequence === undefined ? 0 : packet.sequence - this.heardSequence - 1;
    this.heardSequence = packet.sequence;
    if (packet.payloadType === 101) return this.key(now, packet.timestamp, packet.payload);
    const pcm = decodeMulaw(packet.payload);
    // Concealed, as gateways do.
    for (let n = 0; n < Math.min(10, lost); n++) this.agent.hear(now, pcm);
    this.agent.hear(now, pcm);
  }

  tick(now: number): void {
    if (this.startedAt === undefined) return;
    if (this.running.length > 0) this.runTools(now);
    this.agent.tick(now);
    const aheadMs = this.line.sender === 'ahead' ? AHEAD_MS : 0;
    for (; this.startedAt + this.frames * FRAME_MS <= now + aheadMs; this.frames++) this.pace(now);
    const due = this.travelling.filter(({ atMs }) => atMs <= now);
    this.travelling = this.travelling.filter(({ atMs }) => atMs > now);
    for (const { packet } of due) this.socket.send(packet);
  }

  private runTools(now: number): void {
    for (const id of this.running) this.agent.toolResult(id, '{}');
    this.running = [];
    this.agent.goOn(now);
  }

  private key(now: number, timestamp: number, payload: Uint8Array): void {
    const isEnd = payload[1]! >= 0x80;
    if (!isEnd || timestamp === this.keyAt) return;
    this.keyAt = timestamp;
    this.agent.key(now, KEYS[payload[0]!]!);
  }

  private pace(now: number): void {
    const next = this.buffer.shift();
    if (next?.mark !== undefined) this.agent.onMark(now, next.mark);
    const isStill = this.line.sender === 'still' && !next;
    if (!isStill) this.emit(now, next?.frame ?? SILENCE);
    this.wasSilent = !next;
  }

  private emit(now: number, payload: Uint8Array): void {
    const marker = this.line.sender === 'still' && this.wasSilent;
    const packet = rtp({
      payloadType: 0,
      marker,
      sequence: this.sequence++,
      timestamp: this.timestamp,
      ssrc: SSRC,
      payload,
    });
    this.timestamp += FRAME_SAMPLES;
    const { jitterMs = 0, lossPercent = 0, lostMs: [from, to] = [0, 0] } = this.line;
    if (now >= from && now < to) return;
    if (this.random.next() * 100 < lossPercent) return;
    this.travelling.push({ atMs: now + this.random.next() * jitterMs, packet });
  }

  private mouthLine(): AgentLine {
    return {
      media: (bytes) => {
        this.rest = Buffer.concat([this.rest, bytes]);
        for (; this.rest.length >= FRAME_SAMPLES; this.rest = this.rest.subarray(FRAME_SAMPLES)) {
          this.buffer.push({ frame: this.rest.subarray(0, FRAME_SAMPLES) });
        }
      },
      mark: (name) => {
        const last = new Uint8Array(SILENCE);
        last.set(this.rest);
        this.rest = new Uint8Array(0);
        this.buffer.push({ frame: last, mark: name });
      },
      clear: () => {
        this.buffer = [];
        this.rest = new Uint8Array(0);
      },
      hangUp: () => {
        this.hasEnded = true;
        this.socket.signal?.({ type: 'ended', reason: '' });
      },
      callTools: (calls) => (this.running = calls.map(({ id }) => id)),
    };
  }
}
