import type { Session, SessionSocket } from '../session-sockets.js';
import { doesNotExist, type VapiAssistants } from './assistants.js';
import type { ChatMessage } from './chats.js';
import { client, type ClientMessage, type Format, silence, tone } from './messages.js';

type Message = string | Uint8Array;

/** What the platform does, and how long after its cause. */
export interface Act {
  readonly afterMs?: number;
  /** Messages and audio; text is sent as it is, also if it is not a message. */
  readonly send?: readonly (ClientMessage | Message)[];
  readonly close?: { readonly code: number; readonly reason?: string };
}

export interface VapiScript {
  readonly format?: Format;
  /** From the connection on. */
  readonly onStart?: readonly Act[];
  /** For each line of the caller in turn, when half a second of silence has followed it. */
  readonly onTurn?: readonly (readonly Act[])[];
  /** The setting of the assistant: only messages of these types are sent. */
  readonly clientMessages?: readonly string[];
  /** Whether audio is sent at the pace at which it is heard, in pieces of 20 ms with silence in between. */
  readonly isPaced?: boolean;
}

/** The outputs of a chat, turn by turn. */
export type ChatScript = readonly (readonly ChatMessage[])[];

export interface ScriptedAccount {
  /** The only assistant that is known; without it, every assistant is. */
  readonly assistantId?: string;
  readonly script?: VapiScript;
  readonly chat?: ChatScript;
  /** What the list of assistants returns. */
  readonly assistants?: readonly object[];
}

export interface Received {
  readonly atMs: number;
  readonly type: string;
}

const LOUD = 1_000;
const SILENCE_MS = 500;
const MIN_LINE_MS = 100;
const CHUNK_MS = 100;
const FRAME_MS = 20;

/** All but `assistant.speechStarted`, which is only sent if the setting of the assistant names it. */
export const DEFAULT_MESSAGES = [
  ...['conversation-update', 'function-call', 'hang', 'model-output', 'speech-update', 'status-update', 'transcript'],
  ...['transfer-update', 'tool-calls', 'user-interrupted', 'voice-input', 'workflow.node.started', 'assistant.started'],
];

/** An answer as the model generates it: its words in parts, and its audio, all at once. */
export function says(turnId: string, text: string, ms: number, format?: Format): (ClientMessage | Message)[] {
  const tokens = text.match(/.{1,5}/gsu) ?? [];
  return [...tokens.map((token) => client.model(token, turnId)), ...audio(ms, format)];
}

/** A tone in pieces of 100 ms. */
export const audio = (ms: number, format?: Format): Buffer[] =>
  Array.from({ length: Math.ceil(ms / CHUNK_MS) }, (_, n) => tone(Math.min(CHUNK_MS, ms - n * CHUNK_MS), format));

/** A call whose agent does what its script says. */
export class ScriptedVapi implements Session {
  /** Without the caller's audio. */
  readonly received: Received[] = [];
  /** Bytes of the caller's audio. */
  heardBytes = 0;
  private readonly due: { readonly at: number; readonly act: Act }[] = [];
  private unplayed = Buffer.alloc(0);
  private frameAt: number | undefined;
  private turns = 0;
  private loudSince: number | undefined;
  private loudAt = 0;
  private hasStarted = false;

  constructor(
    private readonly socket: SessionSocket,
    private readonly script: VapiScript,
  ) {}

  onMessage(now: number, data: Message): void {
    this.start(now);
    if (typeof data !== 'string') return this.hear(now, Buffer.from(data));
    this.received.push({ ...(JSON.parse(data) as { type: string }), atMs: now });
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
      for (const message of send) this.send(message);
      if (close) this.socket.close(close.code, close.reason);
    }
    if (this.script.isPaced) this.pace(now);
  }

  of(type: string): Received[] {
    return this.received.filter((one) => one.type === type);
  }

  private start(now: number): void {
    if (this.hasStarted) return;
    this.hasStarted = true;
    this.plan(now, this.script.onStart ?? [{ send: [client.started()] }]);
  }

  private send(message: ClientMessage | Message): void {
    const { clientMessages, isPaced } = this.script;
    if (typeof message === 'string') return this.socket.send(message);
    if (message instanceof Uint8Array) {
      if (isPaced) this.unplayed = Buffer.concat([this.unplayed, message]);
      else this.socket.send(message);
    } else {
      if (message.type === 'user-interrupted') this.unplayed = Buffer.alloc(0);
      if (!clientMessages || clientMessages.includes(message.type)) this.socket.send(JSON.stringify(message));
    }
  }

  private pace(now: number): void {
    const frame = silence(FRAME_MS, this.script.format);
    for (this.frameAt ??= now; this.frameAt <= now; this.frameAt += FRAME_MS) {
      const bytes = Buffer.from(frame);
      this.unplayed.copy(bytes);
      this.unplayed = this.unplayed.subarray(bytes.length);
      this.socket.send(bytes);
    }
  }

  private plan(now: number, acts: readonly Act[]): void {
    this.due.push(...acts.map((act) => ({ at: now + (act.afterMs ?? 0), act })));
    this.due.sort((a, b) => a.at - b.at);
  }

  private hear(now: number, bytes: Buffer): void {
    this.heardBytes += bytes.length;
    const isLoud =
      this.script.format === 'mulaw'
        ? bytes.some((byte) => (~byte & 0x70) >= 0x50)
        : Array.from({ length: bytes.length >> 1 }, (_, n) => bytes.readInt16LE(2 * n)).some((s) => Math.abs(s) > LOUD);
    if (!isLoud) return;
    this.loudSince ??= now;
    this.loudAt = now;
  }
}

/** Assistants that do what a test chooses. */
export class ScriptedAssistants implements VapiAssistants {
  readonly calls: ScriptedVapi[] = [];
  readonly listed: readonly object[];

  constructor(private readonly account: ScriptedAccount) {
    this.listed = account.assistants ?? [];
  }

  async prepare(): Promise<void> {}

  missing(id: unknown): string | undefined {
    const { assistantId = id } = this.account;
    return id === assistantId ? undefined : doesNotExist(id);
  }

  begin(): Promise<(socket: SessionSocket) => Session> {
    return Promise.resolve((socket) => {
      const call = new ScriptedVapi(socket, this.account.script ?? {});
      this.calls.push(call);
      return call;
    });
  }

  reply(_id: unknown, _history: readonly ChatMessage[], turn: number): Promise<readonly ChatMessage[]> {
    return Promise.resolve(this.account.chat?.[turn] ?? []);
  }
}
