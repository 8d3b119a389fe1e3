import type { AgentEvent, Line, LineOptions, RequestRecord, Transport } from '../../conversation/transport.js';
import { type Clock, RealClock } from '../../time/clock.js';
import type { LineReport } from './messages.js';

/** How often words and times are reported: an agent that sends many small parts must not keep the main thread busy. */
const REPORT_MS = 20;
/** Words within this time are joined: no pause lies between them. */
const CLOSE_MS = 100;

/** What the main thread gives a line; its times need no translation, because all threads of a process have one origin of time. */
export interface LineSettings extends Pick<LineOptions, 'history' | 'toolResults' | 'isTest' | 'onPhase'> {
  readonly report: (report: LineReport) => void;
}

/** The line of a text call in its thread. */
export class HostedLine {
  private readonly line: Line;
  private readonly stopWatching: () => void;
  private readonly timer: NodeJS.Timeout;
  private events: AgentEvent[] = [];
  /** Of the request that goes on, and what has been reported of it. */
  private record: RequestRecord | undefined;
  private reported = { tokens: 0, state: '' };
  private stallsSince: number;
  private isOver = false;

  constructor(
    transport: Transport,
    private readonly options: LineSettings,
    private readonly clock: Clock = new RealClock(),
  ) {
    this.stallsSince = clock.now();
    this.stopWatching = clock.watchStalls();
    this.timer = setInterval(() => this.report(), REPORT_MS);
    const { onPhase, report: _, ...settings } = options;
    this.line = transport.connect({
      ...{ ...settings, clock, emit: (event) => this.take(event) },
      ...(onPhase && { onPhase: (phase, at = clock.now()) => onPhase(phase, at) }),
    });
  }

  greet(): Promise<number> | undefined {
    return this.line.greet?.();
  }

  say(text: string): ReturnType<Line['say']> {
    return this.line.say(text);
  }

  close(): void {
    this.end();
    this.line.hangUp();
  }

  private take(event: AgentEvent): void {
    if (this.isOver) return;
    if (event.type === 'request') {
      this.report();
      this.record = event.request;
      this.reported = { tokens: event.request.tokensAt.length, state: stateOf(event.request) };
    }
    if (!this.joins(event)) this.events.push(event);
    if (event.type !== 'speech') this.flush();
    const { type } = event;
    // The conversation takes nothing after it.
    if (type === 'hang_up' || type === 'failure') this.end();
    // At once: after a call of a tool the line would send another request.
    if (this.options.isTest && (type === 'tool_call' || type === 'turn_end')) this.close();
  }

  private end(): void {
    if (this.isOver) return;
    this.isOver = true;
    clearInterval(this.timer);
    this.stopWatching();
  }

  /** Whether the event is words that the event before takes in; the times of the first and the last part stay. */
  private joins(event: AgentEvent): boolean {
    const [first, last] = [this.events.at(-2), this.events.at(-1)];
    if (event.type !== 'speech' || last?.type !== 'speech') return false;
    const isBlank = event.text.trim() === '';
    const follows = first?.type === 'speech' && first.text.trim() !== '' && event.at - first.at < CLOSE_MS;
    if (!isBlank && !(follows && last.text.trim() !== '')) return false;
    this.events[this.events.length - 1] = { ...last, text: last.text + event.text, at: isBlank ? last.at : event.at };
    return true;
  }

  private report(): void {
    if (this.events.length > 0 || (this.record && this.reported.state !== stateOf(this.record))) this.flush();
  }

  private flush(): void {
    const { events, record, reported } = this;
    const stalls = this.clock.stallsSince(this.stallsSince);
    this.stallsSince = stalls.at(-1)?.end ?? this.stallsSince;
    this.events = [];
    const further = record && { ...record, tokensAt: record.tokensAt.slice(reported.tokens) };
    this.options.report({ events, record: further, stalls });
    if (record) this.reported = { tokens: record.tokensAt.length, state: stateOf(record) };
  }
}

/** What may change without an event. */
const stateOf = ({ sentAt, status, firstByteAt }: RequestRecord): string => `${sentAt} ${status} ${firstByteAt}`;
