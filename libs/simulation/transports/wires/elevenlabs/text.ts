import { OutboundError } from '../../../../outbound-http/index.js';
import { Redaction } from '../../../../text/index.js';
import type { AgentEvent, Line, LineOptions, RequestRecord, Transport } from '../../../conversation/transport.js';
import { type ToolAnswer, type ToolAnswers, toolAnswers } from '../../../conversation/tool-results.js';
import { EXCHANGE_LIMITS } from '../../../other-side/call-exchange.js';
import { ArgumentsCount } from '../../../other-side/read-limits.js';
import { OtherSide } from '../../../other-side/other-side.js';
import { CallFailure, type Failure, failure, failureOf } from '../../../timeline/failure.js';
import { parseArguments } from '../../../timeline/text.js';
import type { ForeignAddress } from '../../http/foreign-address.js';
import { OUTBOUND_CODES } from '../../http/outbound-failures.js';
import { PlatformApi } from '../../http/platform-api.js';
import { AgentSocket } from '../../http/websocket.js';
import type { AgentCall, AgentEndpoint } from '../../modules/endpoint.js';
import { ANSWER_LIMITS, tooManyMessages } from '../../../completions/limits.js';
import { HANG_UP_TOOLS } from '../../text/hang-up.js';
import { signedAddress } from './dial.js';
import { clientToolResult, type PlatformError, readMessage, type ServerMessage } from './messages.js';
import { type ElevenLabsOptions, initiation } from './options.js';
import { closedByError, ELEVENLABS_RULES, endedByError, isFinal, notTextOnly, refusedAddress } from './refusals.js';

/** For the TCP connection, TLS and the upgrade, and then for the platform to be ready. */
const CONNECT_MS = 15_000;
const READY_MS = 10_000;
/** With nothing new for so long after complete words, the agent's turn is over: no message says so. */
const SETTLE_MS = 400;
/** Without words in this time the agent does not greet; without an answer, or anything after a tool, the turn fails. */
const GREETING_MS = 10_000;
const ANSWER_MS = 60_000;
/** To a tool that the platform runs. */
const NO_ANSWER: ToolAnswer = { delayMs: 0 };
const HANG_UP_CODES: ReadonlySet<number> = new Set([1000, 1001, 1005]);

type Of<Type extends ServerMessage['type']> = Extract<ServerMessage, { type: Type }>;

/** Turns of text with an agent of ElevenLabs, over one WebSocket for the whole call. */
export function elevenlabsTransport(endpoint: AgentEndpoint, call: AgentCall): Transport {
  const api = PlatformApi.ofCall(ELEVENLABS_RULES, endpoint, call);
  return {
    name: endpoint.protocol,
    secrets: api.secrets,
    connect: (options) => new TextLine(api, endpoint, call, options),
  };
}

class TextLine implements Line {
  readonly agentSpeaksFirst: boolean;
  readonly identity: NonNullable<Line['identity']>;
  private readonly options: ElevenLabsOptions;
  private platform: OtherSide;
  private words = new Redaction([]);
  private socket: AgentSocket | undefined;
  private connection: Promise<number> | undefined;
  private becameReady: () => void = () => undefined;
  private isReady = false;
  private isOver = false;
  /** Of the turn that goes on; the first one is also that of the connection. */
  private record: RequestRecord = { tokensAt: [] };
  private hasRecord = false;
  private isTurnOpen = false;
  private cancelTimer: () => void = () => undefined;
  private cancelReady: () => void = () => undefined;
  /** Words of the present answer that arrived in parts, and an answer that arrived before its parts. */
  private streamed = '';
  private whole = '';
  private readonly toolCalls = new Set<string>();
  private readonly arguments = new ArgumentsCount();
  /** Characters and messages of the present turn. */
  private size = { characters: 0, messages: 0 };
  private error: PlatformError | undefined;
  private readonly answers: ToolAnswers;

  constructor(
    private readonly api: PlatformApi,
    endpoint: AgentEndpoint,
    private readonly call: AgentCall,
    private readonly line: LineOptions,
  ) {
    this.platform = api.platform;
    this.answers = toolAnswers(line.toolResults ?? []);
    this.options = endpoint.options;
    this.agentSpeaksFirst = endpoint.firstSpeaker !== 'caller';
    this.identity = { protocol: endpoint.protocol, url: api.platform.address, callId: call.callId };
  }

  async greet(): Promise<number> {
    this.isTurnOpen = true;
    const asked = await this.connected();
    if (this.record.tokensAt.length === 0) this.endTurnIn(GREETING_MS);
    return asked;
  }

  async say(text: string) {
    await this.connected();
    const at = this.now;
    if (this.hasRecord) this.begin({ tokensAt: [] });
    this.hasRecord = true;
    this.record.sentAt = at;
    this.isTurnOpen = true;
    this.streamed = this.whole = '';
    this.size = { characters: 0, messages: 0 };
    this.socket?.send(JSON.stringify({ type: 'user_message', text }));
    this.awaitAnswer();
    return { start: at, end: at };
  }

  hangUp(): void {
    this.isOver = true;
    this.cancelTimer();
    this.cancelReady();
    this.socket?.close();
  }

  private get now(): number {
    return this.line.clock.now();
  }

  private emit(event: AgentEvent): void {
    if (!this.isOver) this.line.emit(event);
  }

  private begin(record: RequestRecord): void {
    this.record = record;
    this.emit({ type: 'request', at: this.now, request: record });
  }

  /** Connects once. Never rejects: failures are events. @returns when the first message was sent, if there was one */
  private connected(): Promise<number> {
    this.connection ??= this.line.clock.awaitExternal(
      this.connect().catch((error: unknown) => {
        this.fail(failureOf(error));
        return this.now;
      }),
    );
    return this.connection;
  }

  private async connect(): Promise<number> {
    this.begin(this.record);
    const { onPhase } = this.line;
    // `accepted` follows from the status.
    const onStep = (step: string) => step !== 'accepted' && onPhase?.(step as Parameters<typeof onPhase>[0]);
    const signed = signedAddress(this.api, this.call, { onStep: (step) => void onStep(step) });
    const address = await signed.catch((error: unknown) => {
      if (error instanceof CallFailure) Object.assign(this.record, statusOf(error.failure));
      throw error;
    });
    Object.assign(this.record, { status: 200, firstByteAt: this.now });
    const addresses = await this.call.client.addressesOf(address.url).catch((cause: unknown) => {
      if (!(cause instanceof OutboundError)) throw cause;
      throw new CallFailure(OUTBOUND_CODES[cause.reason], new OtherSide(address.shown, []).describe({}), { cause });
    });
    return this.open(address, addresses);
  }

  private async open(address: ForeignAddress, addresses: readonly string[]): Promise<number> {
    this.platform = new OtherSide(address.shown, [...this.api.secrets.all, ...address.secrets]);
    this.words = new Redaction(address.secrets);
    let openedAt = this.now;
    const ready = new Promise<void>((resolve) => (this.becameReady = resolve));
    if (this.isOver) return openedAt;
    this.socket = new AgentSocket({ url: address.url, headers: {}, addresses }, this.platform, CONNECT_MS, {
      onOpen: () => {
        openedAt = this.record.sentAt = this.now;
        const isTextOnly = this.options.textOnly !== 'agent';
        this.socket?.send(JSON.stringify(initiation(this.call, this.options, isTextOnly)));
        const nothing = failure('not_ready', `nothing within ${READY_MS / 1_000} s of the connection`);
        this.cancelReady = this.line.clock.schedule(READY_MS, () => this.fail(nothing));
      },
      onMessage: (data) => this.receive(data),
      onClose: (code, reason) => this.closed(code, reason),
      onBroken: (what) => this.fail(failure('connection_lost', this.platform.describe({ what }))),
      onFailure: ({ failure: broken }) => this.fail(refusedAddress(this.platform, broken)),
    });
    await ready;
    return openedAt;
  }

  private receive(data: string | Uint8Array): void {
    const message = readMessage(typeof data === 'string' ? data : '');
    switch (message.type) {
      case 'metadata':
        if (this.isReady) return;
        if (message.id !== null) void this.call.ledger?.identified(this.platform.excerpt(this.words.clean(message.id)));
        this.cancelReady();
        this.isReady = true;
        return this.becameReady();
      case 'audio':
        return this.fail(notTextOnly(this.platform, this.options.textOnly !== 'agent'));
      case 'part':
        return this.part(message);
      case 'response':
        return this.response(message.text);
      case 'ping':
        return this.socket?.send(JSON.stringify({ type: 'pong', event_id: message.eventId }));
      case 'tool_call':
        return this.toolCall(message);
      case 'tool_done':
        return this.toolDone(message);
      case 'error':
        this.error = message;
        return isFinal(message.said) ? this.fail(endedByError(this.platform, message)) : undefined;
      default:
    }
  }

  /** Counts what the agent says or calls. @returns whether it is too much, with which the call fails */
  private isTooMuch(text: string, messages = 1): boolean {
    this.size.characters += text.length;
    this.size.messages += messages;
    const found =
      this.size.characters > ANSWER_LIMITS.text
        ? failure('answer_too_large', 'its text')
        : this.size.messages > ANSWER_LIMITS.messages
          ? tooManyMessages().failure
          : undefined;
    if (found) this.fail(found);
    return found !== undefined;
  }

  private part({ part, text }: Of<'part'>): void {
    if (this.isTooMuch(text, part === 'stop' ? 1 : 0)) return;
    this.streamed += text;
    // The whole answer came first.
    if (this.whole.startsWith(this.streamed)) return;
    if (text !== '') this.spoke(text);
    if (part === 'stop') this.settle();
  }

  private response(text: string): void {
    if (this.isTooMuch(text)) return;
    if (this.streamed === '') {
      if (text !== '') this.spoke(text);
      this.whole = text;
    } else this.whole = '';
    this.streamed = '';
    this.settle();
  }

  private spoke(text: string): void {
    const at = this.now;
    if (this.record.tokensAt.length < EXCHANGE_LIMITS.tokens) this.record.tokensAt.push(at);
    this.emit({ type: 'speech', at, text: this.words.clean(text) });
    this.awaitAnswer();
  }

  /** The words are complete. */
  private settle(): void {
    this.emit({ type: 'speech_end', at: this.now });
    this.endTurnIn(SETTLE_MS);
  }

  private toolCall({ id, ...said }: Pick<Of<'tool_call'>, 'id' | 'name' | 'json'>): void {
    if (this.toolCalls.has(id) || this.isTooMuch(said.json ?? '')) return;
    this.toolCalls.add(id);
    const exceeded = this.arguments.push(said.json ?? '');
    if (exceeded !== undefined) return this.fail(failure('answer_too_large', exceeded));
    const at = this.now;
    const name = this.words.clean(said.name);
    const args = said.json === null ? null : parseArguments(this.words.clean(said.json));
    const { result, isError, delayMs, failure: missing } = said.json === null ? NO_ANSWER : this.answers(name, args);
    const call = { name, arguments: args, ...(result !== undefined && { result }) };
    this.emit({ type: 'tool_call', at, endedAt: at, ...call });
    if (missing) return this.fail(missing);
    if (result !== undefined) this.answerTool(delayMs, clientToolResult(id, result, isError));
    this.whole = '';
    this.awaitAnswer();
  }

  private answerTool(delayMs: number, message: object): void {
    if (delayMs === 0) return this.socket?.send(JSON.stringify(message));
    this.line.clock.schedule(delayMs, () => {
      if (this.isOver) return;
      this.socket?.send(JSON.stringify(message));
      this.awaitAnswer();
    });
  }

  private toolDone({ id, name }: Of<'tool_done'>): void {
    this.toolCall({ id, name, json: null });
    if (HANG_UP_TOOLS.has(name)) this.emit({ type: 'hang_up', at: this.now, reason: '' });
  }

  private closed(code: number, reason: string): void {
    const byError = closedByError(this.platform, this.error, { code, reason });
    if (byError) return this.fail(byError);
    const what = `closed with code ${code}`;
    if (!this.isReady) return this.fail(failure('not_ready', this.platform.describe({ what, said: reason })));
    if (!HANG_UP_CODES.has(code)) return this.fail(failure('connection_lost', this.platform.describe({ what })));
    this.cancelTimer();
    this.emit({ type: 'hang_up', at: this.now, reason: this.platform.excerpt(reason) });
  }

  private fail(broken: Failure): void {
    this.cancelTimer();
    this.emit({ type: 'failure', at: this.now, failure: broken });
    this.becameReady();
    this.hangUp();
  }

  private awaitAnswer(): void {
    if (!this.isTurnOpen) return;
    const what = `no complete answer within ${ANSWER_MS / 1_000} s`;
    this.endIn(ANSWER_MS, () => this.fail(failure('timeout', this.platform.describe({ what }))));
  }

  private endTurnIn(ms: number): void {
    if (!this.isTurnOpen) return;
    this.endIn(ms, () => {
      this.isTurnOpen = false;
      this.streamed = this.whole = '';
      this.hasRecord = true;
      this.emit({ type: 'turn_end', at: this.now });
    });
  }

  /** One end is awaited at a time. */
  private endIn(ms: number, end: () => void): void {
    this.cancelTimer();
    if (!this.isOver) this.cancelTimer = this.line.clock.schedule(ms, end);
  }
}

const statusOf = ({ status }: Failure) => status !== undefined && { status };
