import { DEFAULT_FORMATS, type Format, type Formats, server, type ServerMessage, tone } from './messages.js';

type Message = string | Uint8Array;

/** What the platform does, and how long after its cause. */
export interface Act {
  readonly afterMs?: number;
  /** Text is sent as it is, also if it is not a message of the server. */
  readonly send?: readonly (ServerMessage | string)[];
  readonly close?: { readonly code: number; readonly reason?: string };
}

export interface ElevenLabsScript {
  readonly formats?: Formats;
  /** From the first message on; by default the platform is ready at once. */
  readonly onStart?: readonly Act[];
  /** For each `user_message`, or each line of the caller when half a second of silence has followed it, in turn. */
  readonly onTurn?: readonly (readonly Act[])[];
  readonly onToolResult?: readonly Act[];
  /** The setting of the agent: only messages of these types are sent. */
  readonly clientEvents?: readonly string[];
}

export interface Socket {
  send(data: string): void;
  close(code?: number, reason?: string): void;
}

export interface Received {
  readonly atMs: number;
  readonly type: string;
  readonly [field: string]: unknown;
}

const LOUD = 1_000;
const SILENCE_MS = 500;
const MIN_LINE_MS = 100;
/** Length of one piece of audio. */
const CHUNK_MS = 100;

/** The events that are sent by default: not all that exist. */
export const DEFAULT_EVENTS = [
  ...['conversation_initiation_metadata', 'audio', 'interruption', 'ping', 'user_transcript', 'agent_response'],
  ...['agent_response_correction', 'client_tool_call', 'agent_tool_response', 'error'],
];

/** An answer: its words with the first of its audio, a tone that is sent at once. @param first event_id of the first piece */
export function says(first: number, text: string, ms: number, format: Format = DEFAULT_FORMATS.fromAgent) {
  const pieces = Array.from({ length: Math.ceil(ms / CHUNK_MS) }, (_, n) =>
    server.audio(first + n, tone(Math.min(CHUNK_MS, ms - n * CHUNK_MS), format)),
  );
  return [...pieces.slice(0, 1), server.response(text, first), ...pieces.slice(1)];
}

/** A conversation of the platform whose agent does what its script says; shares no module with the wire. */
export class ScriptedElevenLabs {
  /** Without the caller's audio. */
  readonly received: Received[] = [];
  /** Bytes of the caller's audio. */
  heardBytes = 0;
  private readonly due: { readonly at: number; readonly act: Act }[] = [];
  private turns = 0;
  private loudSince: number | undefined;
  private loudAt = 0;
  private hasStarted = false;

  constructor(
    private readonly socket: Socket,
    private readonly script: ElevenLabsScript,
  ) {}

  onMessage(now: number, data: Message): void {
    const message = JSON.parse(String(data)) as Record<string, unknown>;
    if ('user_audio_chunk' in message)
      return this.hear(now, Buffer.from(String(message['user_audio_chunk']), 'base64'));
    this.received.push({ ...message, type: String(message['type']), atMs: now });
    const { formats, onStart = [{ send: [server.metadata(formats)] }] } = this.script;
    if (!this.hasStarted) this.plan(now, onStart);
    this.hasStarted = true;
    if (message['type'] === 'user_message') this.nextTurn(now);
    if (message['type'] === 'client_tool_result') this.plan(now, this.script.onToolResult ?? []);
  }

  tick(now: number): void {
    if (this.loudSince !== undefined && now - this.loudAt >= SILENCE_MS) {
      const isLine = this.loudAt - this.loudSince >= MIN_LINE_MS;
      this.loudSince = undefined;
      if (isLine) this.nextTurn(now);
    }
    while (this.due[0] && this.due[0].at <= now) {
      const { send = [], close } = this.due.shift()!.act;
      for (const message of send) this.send(message);
      if (close) this.socket.close(close.code, close.reason);
    }
  }

  of(type: string): Received[] {
    return this.received.filter((one) => one.type === type);
  }

  private send(message: ServerMessage | string): void {
    const { clientEvents } = this.script;
    if (typeof message === 'string') return this.socket.send(message);
    if (!clientEvents || clientEvents.includes(message.type)) this.socket.send(JSON.stringify(message));
  }

  private nextTurn(now: number): void {
    this.plan(now, this.script.onTurn?.[this.turns++] ?? []);
  }

  private plan(now: number, acts: readonly Act[]): void {
    this.due.push(...acts.map((act) => ({ at: now + (act.afterMs ?? 0), act })));
    this.due.sort((a, b) => a.at - b.at);
  }

  private hear(now: number, bytes: Buffer): void {
    this.heardBytes += bytes.length;
    const isMulaw = this.script.formats?.toAgent === 'ulaw_8000';
    const isLoud = isMulaw
      ? bytes.some((byte) => (~byte & 0x70) >= 0x50)
      : Array.from({ length: bytes.length >> 1 }, (_, n) => bytes.readInt16LE(2 * n)).some((s) => Math.abs(s) > LOUD);
    if (!isLoud) return;
    this.loudSince ??= now;
    this.loudAt = now;
  }
}
