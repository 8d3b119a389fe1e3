import type { Session, SessionSocket } from '../session-sockets.js';
import { bot, readClientFrame, type Rtvi, says, toneFrames } from './messages.js';

type Message = string | Uint8Array;

/** What the bot does, and how long after its cause. */
export interface Act {
  readonly afterMs?: number;
  /** Messages of RTVI, frames, or anything else as it is. */
  readonly send?: readonly (Rtvi | Message)[];
  readonly close?: { readonly code: number; readonly reason?: string };
}

export interface PipecatScript {
  /** From the connection on. */
  readonly onStart?: readonly Act[];
  /** When the client says that it is ready; by default the bot is ready, too. */
  readonly onClientReady?: readonly Act[];
  /** For each line of the caller in turn, when half a second of silence has followed it. */
  readonly onTurn?: readonly (readonly Act[])[];
  /** As soon as the caller is heard for 200 ms, once. */
  readonly onBargeIn?: readonly Act[];
  readonly onToolResult?: readonly Act[];
}

const LOUD = 1_000;
const SILENCE_MS = 500;
const MIN_LINE_MS = 100;
const BARGE_IN_MS = 200;

/** A sentence of the bot with its audio, as the transport sends them. */
export const speech = (text: string, ms: number, segment = 1): (Rtvi | Message)[] => [
  ...[says.started(), says.output(text, segment), ...toneFrames(ms)],
  ...[says.output(text, segment, text), says.stopped()],
];

/** A bot that does what its script says. */
export class ScriptedPipecat implements Session {
  /** The messages of the client, and when they came. */
  readonly received: (Rtvi & { readonly atMs: number })[] = [];
  readonly rates = new Set<number>();
  heardBytes = 0;
  private readonly due: { readonly at: number; readonly act: Act }[] = [];
  private turns = 0;
  private loudSince: number | undefined;
  private loudAt = 0;
  private hasStarted = false;
  private hasBargedIn = false;

  constructor(
    private readonly socket: SessionSocket,
    private readonly script: PipecatScript,
  ) {}

  onMessage(now: number, data: Message): void {
    this.start(now);
    const frame = readClientFrame(data);
    if (frame.kind === 'audio') return this.hear(now, frame.pcm, frame.rate);
    this.received.push({ ...frame.message, atMs: now });
    if (frame.message.type === 'client-ready') this.plan(now, this.script.onClientReady ?? [{ send: [says.ready()] }]);
    if (frame.message.type === 'llm-function-call-result') this.plan(now, this.script.onToolResult ?? []);
    if (frame.message.type === 'disconnect-bot') this.socket.close();
  }

  tick(now: number): void {
    this.start(now);
    if (this.loudSince !== undefined && now - this.loudAt >= SILENCE_MS) {
      const isLine = this.loudAt - this.loudSince >= MIN_LINE_MS;
      this.loudSince = undefined;
      if (isLine) this.plan(now, this.script.onTurn?.[this.turns++] ?? []);
    }
    while (this.due[0] && this.due[0].at <= now) {
      const { send = [], close } = this.due.shift()!.act;
      for (const one of send) {
        this.socket.send(typeof one === 'string' || one instanceof Uint8Array ? one : bot.message(one));
      }
      if (close) this.socket.close(close.code, close.reason);
    }
  }

  of(type: string): (Rtvi & { readonly atMs: number })[] {
    return this.received.filter((one) => one.type === type);
  }

  private start(now: number): void {
    if (this.hasStarted) return;
    this.hasStarted = true;
    this.plan(now, this.script.onStart ?? []);
  }

  private plan(now: number, acts: readonly Act[]): void {
    this.due.push(...acts.map((act) => ({ at: now + (act.afterMs ?? 0), act })));
    this.due.sort((a, b) => a.at - b.at);
  }

  private hear(now: number, pcm: Buffer, rate: number): void {
    this.rates.add(rate);
    this.heardBytes += pcm.length;
    const samples = Array.from({ length: pcm.length >> 1 }, (_, n) => pcm.readInt16LE(2 * n));
    if (!samples.some((sample) => Math.abs(sample) > LOUD)) return;
    this.loudSince ??= now;
    this.loudAt = now;
    if (this.hasBargedIn || now - this.loudSince < BARGE_IN_MS) return;
    this.hasBargedIn = true;
    this.plan(now, this.script.onBargeIn ?? []);
  }
}
