import { Connections } from '../../../outbound-http/index.js';
import type { AgentEvent, Line, LineOptions, RequestRecord } from '../../conversation/transport.js';
import { EXCHANGE_LIMITS } from '../../other-side/call-exchange.js';
import { ArgumentsCount } from '../../other-side/read-limits.js';
import { CallFailure, failureOf } from '../../timeline/failure.js';
import { type JsonValue, parseArguments } from '../../timeline/text.js';
import { ANSWER_LIMITS } from '../../completions/limits.js';
import { Pacer } from './pacer.js';

/** One per process, because all calls share its event loop. */
const pacer = new Pacer();

/** A call of a tool, as the agent said it. `json`: its arguments. */
interface SaidToolCall {
  readonly name: string;
  readonly json: string;
  /** Absent if the agent does not wait for it. */
  readonly result?: JsonValue | undefined;
  readonly isBesideWords?: boolean;
  /** How long the tester takes to return it. */
  readonly delayMs?: number;
}

/** A conversation in requests over HTTP: one for each turn of the agent, or more. */
export abstract class RequestLine implements Line {
  abstract readonly agentSpeaksFirst: boolean;
  abstract readonly identity: NonNullable<Line['identity']>;
  /** Kept for the whole call, so that latencies do not include repeated connection set-up. */
  protected readonly connections = new Connections();
  private readonly arguments = new ArgumentsCount();
  /** What the answer has said so far. */
  private characters = 0;
  private isOver = false;
  private readonly warned = new Set<string>();

  constructor(protected readonly line: LineOptions) {}

  /**
   * One turn of the agent, whose actions are emitted.
   * @param text what the caller says; null if the agent speaks first
   * @param onSent called once the first request is sent
   * @returns why the agent hung up, as far as it says so; undefined if it waits for the caller
   * @throws CallFailure
   */
  protected abstract turn(text: string | null, onSent: () => void): Promise<string | undefined>;

  greet(): Promise<number> {
    return this.send(null);
  }

  async say(text: string) {
    const moment = await this.send(text);
    return { start: moment, end: moment };
  }

  hangUp(): void {
    this.isOver = true;
    this.connections.close();
  }

  protected get now(): number {
    return this.line.clock.now();
  }

  protected emit(event: AgentEvent): void {
    if (!this.isOver) this.line.emit(event);
  }

  protected begin(): RequestRecord {
    const request: RequestRecord = { tokensAt: [] };
    this.characters = 0;
    this.emit({ type: 'request', at: this.now, request });
    return request;
  }

  /** Options of a request whose times and status are recorded. */
  protected recording(record: RequestRecord, onSent: () => void) {
    return {
      connections: this.connections,
      onStep: this.line.onPhase as ((step: string) => void) | undefined,
      onSent: () => {
        record.sentAt = this.now;
        onSent();
      },
      onAnswer: (status: number, said?: string) => {
        Object.assign(record, { status, firstByteAt: this.now, ...(said !== undefined && { said }) });
      },
    };
  }

  /** @throws CallFailure */
  protected spoke(text: string, record: RequestRecord): void {
    this.characters += text.length;
    if (this.characters > ANSWER_LIMITS.text) throw new CallFailure('answer_too_large', 'its text');
    const at = this.now;
    if (record.tokensAt.length < EXCHANGE_LIMITS.tokens) record.tokensAt.push(at);
    this.emit({ type: 'speech', at, text });
  }

  /** Once a call. */
  protected warn(code: string, detail: string): void {
    if (!this.warned.has(code)) this.emit({ type: 'warning', at: this.now, code, detail });
    this.warned.add(code);
  }

  /** @throws CallFailure */
  protected calledTool(call: SaidToolCall, at = this.now, endedAt = at): void {
    const { name, json, result, isBesideWords, delayMs = 0 } = call;
    const exceeded = this.arguments.push(json);
    if (exceeded !== undefined) throw new CallFailure('answer_too_large', exceeded);
    const args = parseArguments(json);
    this.emit({
      ...{ type: 'tool_call', at, endedAt, name, arguments: args },
      ...(args === null && { rawArguments: json }),
      ...(result !== undefined && { result }),
      ...(isBesideWords && { isBesideWords }),
      ...(delayMs > 0 && { delayMs }),
    });
  }

  /** The answer follows as events. @returns the clock time at which the first request was sent, or failed */
  private async send(text: string | null): Promise<number> {
    const { clock } = this.line;
    await clock.awaitExternal(this.connections.prepare());
    await clock.awaitExternal(pacer.turn());
    const sent = new Promise<number>((resolve) => {
      void clock.awaitExternal(this.answer(text, () => resolve(clock.now())));
    });
    return clock.awaitExternal(sent);
  }

  /** Never throws. */
  private async answer(text: string | null, onSent: () => void): Promise<void> {
    try {
      const reason = await this.turn(text, onSent);
      this.emit(reason === undefined ? { type: 'turn_end', at: this.now } : { type: 'hang_up', at: this.now, reason });
    } catch (error) {
      this.emit({ type: 'failure', at: this.now, failure: failureOf(error) });
    } finally {
      onSent();
    }
  }
}
