import type { Session, SessionSocket } from '../session-sockets.js';
import { event, partOf, readClientEvent, server, type ServerEvent, tone } from './messages.js';

type Message = string | Uint8Array;

/** What the platform does, and how long after its cause. */
export interface Act {
  readonly afterMs?: number;
  readonly send?: readonly Message[];
  readonly close?: { readonly code: number; readonly reason?: string };
}

export interface RealtimeScript {
  /** From the connection on; by default the session is created at once. */
  readonly onOpen?: readonly Act[];
  /** From `session.update` on; by default the platform is ready at once, with what it was asked for. */
  readonly onUpdate?: readonly Act[];
  /** For each `response.create` in turn; the first one asks for the greeting. */
  readonly onCreate?: readonly (readonly Act[])[];
  /** From the end of each turn of the caller on, which is detected in mu-law; with the next one it is cancelled. */
  readonly onTurn?: (turn: number) => readonly Act[];
}

interface Received {
  readonly atMs: number;
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Length of one delta, and how often one is sent: faster than it is played, as OpenAI does. */
const DELTA_MS = 100;
const DELTA_EVERY_MS = 20;
/** Speech of the caller begins after `on` and ends after `off` milliseconds. Segments of mu-law from 924 of 32,767 on are loud. */
const VAD = { segment: 0x30, on: 100, off: 500 } as const;

/** A response with one message: its words and a tone in mu-law, sent at once. @param item also the number of the response */
export function says(item: number, text: string, ms: number, deltaMs = DELTA_MS): string[] {
  return speaks(item, text, tone(ms), 8 * deltaMs);
}

/** The same with the bytes of its audio. @param size of one delta */
export const speaks = (item: number, text: string, bytes: Uint8Array, size = 4_800): string[] =>
  eventsOf(item, text, bytes, size).map(event);

/** The same in mu-law, as it is generated. */
export function streams(item: number, text: string, bytes: Uint8Array): Act[] {
  const part = partOf(`resp_${item}`, `item_${item}`);
  const [begins, ...rest] = eventsOf(item, text, bytes, 8 * DELTA_MS);
  const events: ServerEvent[] = [
    begins!,
    {
      ...{ type: 'response.output_item.added', ...part },
      item: { id: part.item_id, type: 'message', role: 'assistant', status: 'in_progress', content: [] },
    },
    ...rest.slice(0, -2),
    { type: 'response.output_audio.done', ...part },
    ...rest.slice(-2),
  ];
  return events.map((one, index) => ({ afterMs: index * DELTA_EVERY_MS, send: [event(one)] }));
}

function eventsOf(item: number, text: string, bytes: Uint8Array, size: number): ServerEvent[] {
  const part = partOf(`resp_${item}`, `item_${item}`);
  const deltas = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    server.audio(part, bytes.subarray(index * size, (index + 1) * size)),
  );
  const { response_id: id } = part;
  return [
    ...[server.begins(id), server.words(part, text), ...deltas],
    ...[server.allWords(part, text), server.ends(id, 'completed')],
  ];
}

export const ends = (item: number, status: 'completed' | 'cancelled' = 'completed'): string =>
  event(server.ends(`resp_${item}`, status));

/** A function call within a response. */
export const calls = (response: number, id: string, name: string, json = '{}'): string =>
  event(server.call(`resp_${response}`, { id, name, arguments: json }));

export const speechStarted = (item = 'item_caller'): string => event(server.callerStarts(item));

export const created = (session: object = {}): string => event(server.created(session));

/** With the names before general availability. */
export const inOldNames = (messages: readonly string[]): string[] =>
  messages.map((message) => message.replace('"response.output_audio', '"response.audio'));

export const updated = (session: object = {}): string => event(server.updated(session));

/** The formats of a session in mu-law. */
export const MULAW = {
  audio: { input: { format: { type: 'audio/pcmu' } }, output: { format: { type: 'audio/pcmu' } } },
} as const;

/** A call whose agent does what its script says. */
export class ScriptedRealtime implements Session {
  /** Without the caller's audio. */
  readonly received: Received[] = [];
  /** Bytes of the caller's audio. */
  heardBytes = 0;
  private due: { readonly at: number; readonly act: Act }[] = [];
  private creates = 0;
  private turns = 0;
  private isOpen = false;
  private isSpeaking = false;
  /** Milliseconds for which the opposite of `isSpeaking` was heard. */
  private changedMs = 0;

  constructor(
    private readonly socket: SessionSocket,
    private readonly script: RealtimeScript,
  ) {}

  onMessage(now: number, data: Message): void {
    const received = readClientEvent(String(data))!;
    if (received.type === 'input_audio_buffer.append') return this.hear(now, Buffer.from(received.audio, 'base64'));
    this.received.push({ ...received, atMs: now });
    const { onUpdate, onCreate, onTurn } = this.script;
    if (received.type === 'conversation.item.truncate') this.socket.send(event(server.truncated(received)));
    if (received.type === 'session.update') this.plan(now, onUpdate ?? [{ send: [updated(onTurn && MULAW)] }]);
    if (received.type === 'response.create') this.plan(now, onCreate?.[this.creates++] ?? []);
  }

  tick(now: number): void {
    if (!this.isOpen) this.plan(now, this.script.onOpen ?? [{ send: [created()] }]);
    this.isOpen = true;
    while (this.due[0] && this.due[0].at <= now) {
      const { send = [], close } = this.due.shift()!.act;
      for (const data of send) this.socket.send(data);
      if (close) this.socket.close(close.code, close.reason);
    }
  }

  of(type: string): Received[] {
    return this.received.filter((one) => one.type === type);
  }

  private plan(now: number, acts: readonly Act[]): void {
    this.due.push(...acts.map((act) => ({ at: now + (act.afterMs ?? 0), act })));
    this.due.sort((a, b) => a.at - b.at);
  }

  private hear(now: number, bytes: Buffer): void {
    this.heardBytes += bytes.length;
    if (!this.script.onTurn) return;
    const isLoud = bytes.some((byte) => (~byte & 0x70) >= VAD.segment);
    this.changedMs = isLoud === this.isSpeaking ? 0 : this.changedMs + bytes.length / 8;
    if (this.changedMs < (this.isSpeaking ? VAD.off : VAD.on)) return;
    this.isSpeaking = !this.isSpeaking;
    this.changedMs = 0;
    if (this.isSpeaking) return this.callerStarts();
    const heard = server.callerEnds(`item_caller_${this.turns}`).map(event);
    this.plan(now, [{ send: heard }, ...this.script.onTurn(this.turns)]);
  }

  private callerStarts(): void {
    this.socket.send(speechStarted(`item_caller_${this.turns + 1}`));
    if (this.due.length > 0) this.socket.send(ends(this.turns, 'cancelled'));
    this.due = [];
    this.turns += 1;
  }
}
