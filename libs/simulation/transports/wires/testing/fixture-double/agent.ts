/** A message, or the bytes of a binary one. */
export type Message = string | Uint8Array;

/** What the platform does at a time after its cause. */
export interface Act {
  readonly afterMs?: number;
  readonly send?: readonly Message[];
  readonly close?: { readonly code: number; readonly reason?: string };
}

export interface FixtureScript {
  /** From `hello` on; by default the platform is ready after 100 ms. */
  readonly onHello?: readonly Act[];
  /** When the caller has been silent for half a second after a line: for each line in turn. */
  readonly onLine?: readonly (readonly Act[])[];
  /** Shorter sounds of the caller are not lines. */
  readonly minLineMs?: number;
  readonly onToolResult?: (id: string, json: string) => readonly Act[];
}

interface Socket {
  send(data: Message): void;
  close(code?: number, reason?: string): void;
}

const RATE = 16_000;
const LOUD = 1_000;
const SILENCE_MS = 500;
/** Odd, so that samples are cut in halves. */
const PART = 1_001;

export const message = (type: string, fields: object = {}): string => JSON.stringify({ type, ...fields });

/** A tone as 16-bit PCM, the low byte first, in parts of an odd number of bytes. */
export function toneParts(ms: number): Uint8Array[] {
  const bytes = Buffer.alloc((2 * RATE * ms) / 1_000);
  for (let at = 0; at < bytes.length; at += 2) {
    bytes.writeInt16LE(Math.round(6_000 * Math.sin((Math.PI * 440 * at) / RATE)), at);
  }
  return Array.from({ length: Math.ceil(bytes.length / PART) }, (_, n) => bytes.subarray(n * PART, (n + 1) * PART));
}

/** An item with its words, sent at once. */
export const says = (item: number, text: string, ms: number): Message[] => [
  message('item', { item }),
  ...toneParts(ms),
  message('said', { item, text }),
];

export const READY: Act = { afterMs: 100, send: [message('ready')] };

/** The platform of the fixture wire, with an agent that does what its script says; shares no module with the wire. */
export class FixtureAgent {
  readonly received: any[] = [];
  private readonly due: { readonly at: number; readonly act: Act }[] = [];
  private lines = 0;
  private loudSince: number | undefined;
  private loudAt = 0;

  constructor(
    private readonly socket: Socket,
    private readonly script: FixtureScript,
  ) {}

  onMessage(now: number, data: Message): void {
    if (typeof data !== 'string') return this.hear(now, data);
    const received = JSON.parse(data);
    this.received.push(received);
    if (received.type === 'hello') this.plan(now, this.script.onHello ?? [READY]);
    if (received.type === 'tool_result') this.plan(now, this.script.onToolResult?.(received.id, received.json) ?? []);
  }

  tick(now: number): void {
    if (this.loudSince !== undefined && now - this.loudAt >= SILENCE_MS) {
      const isLine = this.loudAt - this.loudSince >= (this.script.minLineMs ?? 0);
      this.loudSince = undefined;
      if (isLine) this.plan(now, this.script.onLine?.[this.lines++] ?? []);
    }
    while (this.due[0] && this.due[0].at <= now) {
      const { send = [], close } = this.due.shift()!.act;
      for (const data of send) this.socket.send(data);
      if (close) this.socket.close(close.code, close.reason);
    }
  }

  private plan(now: number, acts: readonly Act[]): void {
    this.due.push(...acts.map((act) => ({ at: now + (act.afterMs ?? 0), act })));
    this.due.sort((a, b) => a.at - b.at);
  }

  private hear(now: number, data: Uint8Array): void {
    const bytes = Buffer.from(data);
    for (let at = 0; at + 1 < bytes.length; at += 2) {
      if (Math.abs(bytes.readInt16LE(at)) <= LOUD) continue;
      this.loudSince ??= now;
      this.loudAt = now;
    }
  }
}
