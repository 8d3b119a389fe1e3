import { event, tone } from './events.js';

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
}

interface Socket {
  send(data: Message): void;
  close(code?: number, reason?: string): void;
}

interface Received {
  readonly atMs: number;
  readonly type: string;
  readonly [field: string]: unknown;
}

const PLACE = { output_index: 0, content_index: 0 } as const;
/** Length of one delta. */
const DELTA_MS = 100;

/** A response with one message: its words and a tone in mu-law, sent at once. @param item also the number of the response */
export function says(item: number, text: string, ms: number, deltaMs = DELTA_MS): string[] {
  return speaks(item, text, tone(ms), 8 * deltaMs);
}

/** The same with the bytes of its audio. @param size of one delta */
export function speaks(item: number, text: string, bytes: Uint8Array, size = 4_800): string[] {
  const place = { ...PLACE, response_id: `resp_${item}`, item_id: `item_${item}` };
  const deltas = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    Buffer.from(bytes.subarray(index * size, (index + 1) * size)).toString('base64'),
  );
  return [
    event({ type: 'response.created', response: { id: place.response_id, status: 'in_progress' } }),
    event({ type: 'response.output_audio_transcript.delta', ...place, delta: text }),
    ...deltas.map((delta) => event({ type: 'response.output_audio.delta', ...place, delta })),
    event({ type: 'response.output_audio_transcript.done', ...place, transcript: text }),
    ends(item),
  ];
}

export const ends = (item: number, status: 'completed' | 'cancelled' = 'completed'): string =>
  event({ type: 'response.done', response: { id: `resp_${item}`, status, output: [] } });

/** A function call within a response. */
export const calls = (response: number, id: string, name: string, json = '{}'): string =>
  event({
    type: 'response.function_call_arguments.done',
    ...{ response_id: `resp_${response}`, item_id: `item_${id}`, output_index: 0, call_id: id, name, arguments: json },
  });

export const speechStarted = (): string =>
  event({ type: 'input_audio_buffer.speech_started', audio_start_ms: 0, item_id: 'item_caller' });

export const created = (session: object = {}): string =>
  event({ type: 'session.created', session: { type: 'realtime', ...session } });

/** With the names before general availability. */
export const inOldNames = (messages: readonly string[]): string[] =>
  messages.map((message) => message.replace('"response.output_audio', '"response.audio'));

export const updated = (session: object = {}): string =>
  event({ type: 'session.updated', session: { type: 'realtime', ...session } });

/** A Realtime server that does what its script says; shares no module with the wire. */
export class ScriptedRealtime {
  /** Without the caller's audio. */
  readonly received: Received[] = [];
  /** Bytes of the caller's audio. */
  heardBytes = 0;
  private readonly due: { readonly at: number; readonly act: Act }[] = [];
  private creates = 0;
  private isOpen = false;

  constructor(
    private readonly socket: Socket,
    private readonly script: RealtimeScript,
  ) {}

  onMessage(now: number, data: Message): void {
    const received = JSON.parse(String(data)) as Omit<Received, 'atMs'> & { readonly type: string };
    if (received.type === 'input_audio_buffer.append') {
      this.heardBytes += Buffer.from(String(received['audio']), 'base64').length;
      return;
    }
    this.received.push({ ...received, atMs: now });
    if (received.type === 'session.update') this.plan(now, this.script.onUpdate ?? [{ send: [updated()] }]);
    if (received.type === 'response.create') this.plan(now, this.script.onCreate?.[this.creates++] ?? []);
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
}
