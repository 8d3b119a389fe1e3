import type { Session, SessionSocket } from '../session-sockets.js';
import type { ElevenLabsAgents, ListedAgent } from './account.js';
import {
  type ClientMessage,
  DEFAULT_FORMATS,
  type Format,
  type Formats,
  readClientMessage,
  server,
  type ServerMessage,
  tone,
} from './messages.js';

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
}

export interface ScriptedAccount {
  /** The only agent that is known; without it, every agent is. */
  readonly agentId?: string;
  readonly script?: ElevenLabsScript;
  /** Agents of the account, as its list has them. */
  readonly agents?: readonly ListedAgent[];
}

export interface Received extends ClientMessage {
  readonly atMs: number;
}

const LOUD = 1_000;
const SILENCE_MS = 500;
const MIN_LINE_MS = 100;
/** Length of one piece of audio. */
const CHUNK_MS = 100;

/** An answer: its words with the first of its audio, a tone that is sent at once. @param first event_id of the first piece */
export function says(first: number, text: string, ms: number, format: Format = DEFAULT_FORMATS.fromAgent) {
  const pieces = Array.from({ length: Math.ceil(ms / CHUNK_MS) }, (_, n) =>
    server.audio(first + n, tone(Math.min(CHUNK_MS, ms - n * CHUNK_MS), format)),
  );
  return [...pieces.slice(0, 1), server.response(text, first), ...pieces.slice(1)];
}

/** A conversation whose agent does what its script says. */
export class ScriptedElevenLabs implements Session {
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
    private readonly socket: SessionSocket,
    private readonly script: ElevenLabsScript,
  ) {}

  onMessage(now: number, data: string | Uint8Array): void {
    const message = readClientMessage(data);
    if (!message) throw new Error(`Not a message of a client: ${String(data)}`);
    const { type } = message;
    if (type === 'user_audio_chunk') return this.hear(now, Buffer.from(String(message[type]), 'base64'));
    this.received.push({ ...message, atMs: now });
    const { formats, onStart = [{ send: [server.metadata(formats)] }] } = this.script;
    if (!this.hasStarted) this.plan(now, onStart);
    this.hasStarted = true;
    if (type === 'user_message') this.nextTurn(now);
    if (type === 'client_tool_result') this.plan(now, this.script.onToolResult ?? []);
  }

  tick(now: number): void {
    if (this.loudSince !== undefined && now - this.loudAt >= SILENCE_MS) {
      const isLine = this.loudAt - this.loudSince >= MIN_LINE_MS;
      this.loudSince = undefined;
      if (isLine) this.nextTurn(now);
    }
    while (this.due[0] && this.due[0].at <= now) {
      const { send = [], close } = this.due.shift()!.act;
      for (const message of send) this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
      if (close) this.socket.close(close.code, close.reason);
    }
  }

  of(type: string): Received[] {
    return this.received.filter((one) => one.type === type);
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

/** Agents that do what a test chooses. */
export class ScriptedAgents implements ElevenLabsAgents {
  readonly conversations: ScriptedElevenLabs[] = [];
  readonly listed: readonly ListedAgent[];

  constructor(private readonly account: ScriptedAccount) {
    this.listed = account.agents ?? [];
  }

  async prepare(): Promise<void> {}

  missing(id: string): string | undefined {
    const { agentId = id } = this.account;
    return id === agentId ? undefined : 'The AI agent you are trying to reach does not exist.';
  }

  begin(): Promise<(socket: SessionSocket) => Session> {
    return Promise.resolve((socket) => {
      const conversation = new ScriptedElevenLabs(socket, this.account.script ?? {});
      this.conversations.push(conversation);
      return conversation;
    });
  }
}
