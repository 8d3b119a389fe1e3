import { CallerFrames } from '../agent/voice/caller-frames.js';
import type { AgentLine } from '../agent/voice/mouth.js';
import { VoiceAgent, type VoiceAgentOptions } from '../agent/voice/voice-agent.js';
import { type ClientEvent, readClientEvent, type ServerEvent } from './events.js';
import { HeardAccount, type Truncation } from './heard-account.js';
import { plantedBy } from '../agent/voice/word-faults.js';
import { isRealtimeOnlyFault, type RealtimeFaultName, type RealtimeOnlyFaultName } from './realtime-faults.js';
import { Response } from './response.js';
import { SessionSettings } from './session-settings.js';

export interface RealtimeSessionOptions extends Omit<VoiceAgentOptions, 'fault' | 'wordFault' | 'hostedTools'> {
  readonly fault?: RealtimeFaultName | undefined;
  /** Delay of the connection in each direction, in milliseconds: for the account of what was heard. */
  readonly oneWayMs?: number;
  readonly onTruncate?: (truncation: Truncation) => void;
}

/** The agent's end of a WebSocket connection. */
export interface RealtimeSocket {
  send(text: string): void;
  close(): void;
}

/** Number of the answer in which a planted fault happens; the greeting is 1. */
const FAULTY_ANSWER = 2;
/** Length of the audio of that answer that is sent before it is cut or cancelled. */
const FAULT_AFTER_MS = 800;
/** From the beginning of that answer to the false start of speech: too late for a report of the caller's line before it. */
const FALSE_START_AFTER_MS = 1_800;
const LIMIT = 20_000;

/**
 * The agent as a Realtime server: one session. It has no socket and no timer: its driver passes the messages and calls `tick`
 * at least every 20 ms, all with times in milliseconds of one clock.
 */
export class RealtimeAgentSession {
  private readonly agent: VoiceAgent;
  private readonly settings: SessionSettings;
  private readonly account = new HeardAccount();
  private readonly fault: RealtimeOnlyFaultName | undefined;
  private readonly sentMs = new Map<string, number>();
  private frames: CallerFrames | undefined;
  private now = 0;
  private events = 0;
  private responses = 0;
  private turns = 0;
  /** Spoken answers, with the greeting. */
  private answers = 0;
  private answeredAt = 0;
  private response: Response | undefined;
  /** The agent hangs up by a function when it has said this answer. */
  private hangsUp = false;
  private hasBegun = false;
  /** The planted fault has happened. */
  private hasFailed = false;

  constructor(
    private readonly socket: RealtimeSocket,
    private readonly options: RealtimeSessionOptions,
  ) {
    const { fault, ...rest } = options;
    this.fault = fault !== undefined && isRealtimeOnlyFault(fault) ? fault : undefined;
    const planted = fault === undefined || isRealtimeOnlyFault(fault) ? {} : plantedBy(fault);
    this.settings = new SessionSettings('sess_1');
    this.agent = new VoiceAgent(this.line(), {
      ...rest,
      ...planted,
      hostedTools: () => this.settings.functions,
    });
    this.send({ type: 'session.created', session: this.session });
  }

  onMessage(now: number, data: string | Uint8Array): void {
    this.now = now;
    const event = typeof data === 'string' ? readClientEvent(data) : undefined;
    if (event) this.receive(event);
    else this.refuse('invalid_request_error', 'invalid_json', 'The message is not an event');
  }

  tick(now: number): void {
    this.now = now;
    this.agent.tick(now);
    const isDue = this.answers === FAULTY_ANSWER && now - this.answeredAt >= FALSE_START_AFTER_MS;
    if (this.fault === 'false-speech-start' && isDue && !this.hasFailed) {
      this.hasFailed = true;
      this.callerStarts();
      this.agent.fallSilent(now);
    }
  }

  private receive(event: ClientEvent): void {
    switch (event.type) {
      case 'session.update':
        this.settings.update(event.session);
        return this.send({ type: 'session.updated', session: this.session });
      case 'input_audio_buffer.append':
        return this.hear(Buffer.from(event.audio, 'base64'));
      case 'response.create':
        return this.respond();
      case 'conversation.item.create':
        if (event.item.type === 'function_call_output') this.agent.toolResult(event.item.call_id, event.item.output);
        return this.send({ type: 'conversation.item.added', item: event.item, previous_item_id: null });
      case 'conversation.item.truncate':
        return this.truncate(event.item_id, event.content_index, event.audio_end_ms);
      default:
        return;
    }
  }

  private respond(): void {
    if (this.response) {
      const code = 'conversation_already_has_active_response';
      return this.refuse('invalid_request_error', code, 'Conversation already has an active response in progress');
    }
    if (this.hasBegun) return this.agent.goOn(this.now);
    this.hasBegun = true;
    this.agent.start(this.now);
  }

  private hear(bytes: Uint8Array): void {
    this.frames ??= new CallerFrames(this.settings.toAgent);
    this.frames.push(bytes, (frame, laterMs) => this.agent.hear(this.now - laterMs, frame));
  }

  private truncate(itemId: string, contentIndex: number, audioEndMs: number): void {
    const { oneWayMs = 0, onTruncate } = this.options;
    if (!this.account.has(itemId)) {
      return this.refuse('invalid_request_error', 'item_truncate_invalid_item_id', `There is no item ${itemId}`);
    }
    const sentMs = this.sentMs.get(itemId) ?? 0;
    if (!Number.isInteger(audioEndMs) || audioEndMs < 0 || audioEndMs > sentMs) {
      const message = `Audio content of ${sentMs}ms is already shorter than ${audioEndMs}ms`;
      return this.refuse('invalid_request_error', 'invalid_value', message);
    }
    const heardMs = this.account.cut(this.now - oneWayMs, itemId);
    onTruncate?.({ itemId, audioEndMs, heardMs });
    const place = { item_id: itemId, content_index: contentIndex, audio_end_ms: audioEndMs };
    this.send({ type: 'conversation.item.truncated', ...place });
  }

  private line(): AgentLine {
    return {
      answer: ({ text, then }, bytes) => {
        this.answers += 1;
        this.answeredAt = this.now;
        this.hangsUp = then === 'hang-up' && this.options.fault !== 'never-hangs-up';
        if (this.isMute) return;
        if (this.fault === 'error-event') this.refuse('server_error', 'server_error', 'The planted error');
        this.begin();
        // Without audio, the answer ends here.
        if (text === '') return this.end({ status: 'completed' });
        this.response?.say(text, bytes);
      },
      media: (bytes) => {
        this.response?.audio(bytes);
        this.breakOff();
      },
      mark: () => {
        const bye = { id: `call_end_${this.responses}`, name: 'end_call', arguments: '{}' } as const;
        this.end({ status: 'completed' }, this.hangsUp ? [bye] : []);
      },
      clear: () => this.end({ status: 'cancelled', reason: 'turn_detected' }),
      callTools: (calls) => {
        this.begin();
        this.response?.call(calls);
        this.end({ status: 'completed' });
      },
      // The client hangs up when it has played the goodbye.
      hangUp: () => {
        if (!this.hangsUp) this.socket.close();
      },
      callerStarts: () => this.callerStarts(),
      callerEnds: (heard) => this.callerEnds(heard),
    };
  }

  private get isMute(): boolean {
    return this.fault === 'no-answer' && this.answers > FAULTY_ANSWER;
  }

  private begin(): void {
    this.responses += 1;
    const { oneWayMs = 0 } = this.options;
    this.response = new Response({
      id: `resp_${this.responses}`,
      format: this.settings.fromAgent,
      send: (event) => this.send(event),
      onDelta: (itemId, ms) => {
        this.sentMs.set(itemId, (this.sentMs.get(itemId) ?? 0) + ms);
        this.account.delta(this.now + oneWayMs, itemId, ms);
      },
    });
    const remaining = this.fault === 'no-tokens-left' ? 0 : LIMIT - this.responses;
    const limit = { name: 'tokens' as const, limit: LIMIT, remaining, reset_seconds: 1.5 };
    this.send({ type: 'rate_limits.updated', rate_limits: [limit] });
  }

  private end(...ending: Parameters<Response['end']>): void {
    this.response?.end(...ending);
    this.response = undefined;
  }

  /** The planted fault, in the middle of an answer. */
  private breakOff(): void {
    const endings = {
      'cancels-answer': { status: 'cancelled', reason: 'client_cancelled' },
      'cuts-answer': { status: 'incomplete', reason: 'max_output_tokens' },
    } as const;
    const { fault } = this;
    if ((fault !== 'cancels-answer' && fault !== 'cuts-answer') || this.answers !== FAULTY_ANSWER) return;
    if (!this.response || this.response.sentMs < FAULT_AFTER_MS) return;
    this.end(endings[fault]);
    this.agent.fallSilent(this.now);
  }

  private callerStarts(): void {
    this.turns += 1;
    this.hasBegun = true;
    const place = { audio_start_ms: Math.round(this.now), item_id: `item_caller_${this.turns}` };
    this.send({ type: 'input_audio_buffer.speech_started', ...place });
  }

  private callerEnds(heard: string): void {
    const item_id = `item_caller_${this.turns}`;
    this.send({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: Math.round(this.now), item_id });
    this.send({ type: 'input_audio_buffer.committed', item_id, previous_item_id: null });
    if (!this.settings.transcribes) return;
    this.send({
      type: 'conversation.item.input_audio_transcription.completed',
      ...{ item_id, content_index: 0, transcript: heard, usage: { type: 'duration', seconds: 1 } },
    });
  }

  private refuse(type: string, code: string, message: string): void {
    this.send({ type: 'error', error: { type, code, message, param: null, event_id: null } });
  }

  private get session() {
    return this.settings.all as { readonly type: 'realtime' };
  }

  private send(event: ServerEvent): void {
    this.events += 1;
    this.socket.send(JSON.stringify({ event_id: `event_${this.events}`, ...event }));
  }
}
