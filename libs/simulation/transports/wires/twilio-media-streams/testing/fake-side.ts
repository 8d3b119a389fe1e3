import type { PlatformEvent, WireFinding } from '../../../../voice/facts/facts.js';
import { encodeMulaw } from '../../../../../audio/index.js';
import type { WireSide } from '../../../../voice/wire/wire.js';

/** The call's side of a protocol: a playout buffer that is played by the given times, and records of everything. */
export class FakeSide implements WireSide {
  readonly isLogged = true;
  readonly sent: Record<string, any>[] = [];
  readonly findings: (Omit<WireFinding, 'atMs'> & { readonly at: number })[] = [];
  readonly events: Omit<PlatformEvent, 'atMs'>[] = [];
  readonly logged: { readonly direction: string; readonly message: any }[] = [];
  readonly played: Uint8Array[] = [];
  /** Codes of hang-ups. */
  readonly ends: string[] = [];
  private position = 0;
  private marks: { readonly at: number; readonly fire: (now: number) => void }[] = [];

  send(data: string | Uint8Array): void {
    this.sent.push(JSON.parse(String(data)) as Record<string, unknown>);
  }

  ready(): void {}

  play(now: number, pcm: Int16Array): void {
    this.played.push(encodeMulaw(pcm));
    this.position = Math.max(this.position, now) + pcm.length / 8;
  }

  late(): void {}

  clear(now: number): number {
    const dropped = this.bufferedMs(now);
    this.position = Math.min(this.position, now);
    const pending = this.marks;
    this.marks = [];
    for (const { fire } of pending) fire(now);
    return dropped;
  }

  heardOfItem(): number {
    return 0;
  }

  mark(now: number, onPlayed: (now: number) => void): void {
    if (this.position <= now) return onPlayed(now);
    this.marks.push({ at: this.position, fire: onPlayed });
  }

  bufferedMs(now: number): number {
    return Math.max(0, this.position - now);
  }

  finding(now: number, finding: Omit<WireFinding, 'atMs'>): void {
    this.findings.push({ ...finding, at: now });
  }

  turnEnded(): void {}

  said(): void {}

  identified(): void {}

  heardCaller(): void {}

  toolCall(): void {}

  hangUp(_now: number, _reason: string, code = 'agent_hung_up'): void {
    this.ends.push(code);
  }

  failed(): void {}

  event(_now: number, event: Omit<PlatformEvent, 'atMs'>): void {
    this.events.push(event);
  }

  log(_now: number, direction: 'sent' | 'received', message: unknown): void {
    this.logged.push({ direction, message });
  }

  /** Plays up to a time. */
  advance(now: number): void {
    const due = this.marks.filter(({ at }) => at <= now);
    this.marks = this.marks.filter(({ at }) => at > now);
    for (const { at, fire } of due) fire(at);
  }

  get codes(): string[] {
    return this.findings.map(({ code }) => code);
  }

  sentOf(event: string): Record<string, any>[] {
    return this.sent.filter((message) => message.event === event);
  }
}
