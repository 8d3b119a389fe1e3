import { decodeMulaw, encodeAudio, StreamResampler } from '../../../libs/audio/index.js';
import { isFault } from '../agent/faults.js';
import type { ToolName } from '../agent/tools.js';
import { CallerFrames } from '../agent/voice/caller-frames.js';
import { RATE } from '../agent/voice/frames.js';
import type { AgentLine } from '../agent/voice/mouth.js';
import { HeardAccount } from '../openai-realtime/heard-account.js';
import { VoiceAgent, type VoiceAgentOptions } from '../agent/voice/voice-agent.js';
import { plantedBy } from '../agent/voice/word-faults.js';
import { type ElevenLabsFaultName, type ElevenLabsOnlyFaultName, isElevenLabsOnlyFault } from './elevenlabs-faults.js';
import * as messages from './messages.js';
import { TextSession } from './text-session.js';

export interface ElevenLabsSessionOptions extends Omit<VoiceAgentOptions, 'fault' | 'wordFault' | 'hostedTools'> {
  readonly fault?: ElevenLabsFaultName | undefined;
  readonly format?: messages.AgentFormat;
}

/** The agent's end of a WebSocket connection. */
export interface ElevenLabsSocket {
  send(text: string): void;
  close(code?: number): void;
}

interface SentAnswer {
  readonly item: string;
  readonly text: string;
  sentMs: number;
  /** The latest part of its audio. */
  bytes: Uint8Array;
}

/** Tools of the agent that its client runs. */
export const CLIENT_TOOLS: ReadonlySet<string> = new Set<ToolName>([
  'check_availability',
  'book_table',
  'cancel_booking',
]);

/** Number of the answer in which a planted fault happens; the greeting is 1. */
const FAULTY_ANSWER = 2;
/** From the beginning of that answer to the false interruption: too late for a report of the caller's line before it. */
const FALSE_INTERRUPTION_AFTER_MS = 2_200;
const PING_MS = 2_000;
/** Parts of an interrupted answer that arrive too late. */
const LATE_PARTS = 3;

/**
 * The agent as one of ElevenLabs: one conversation. It has no socket and no timer: its driver passes the messages and calls
 * `tick` at least every 20 ms, all with times in milliseconds of one clock.
 */
export class ElevenLabsAgentSession {
  private readonly agent: VoiceAgent;
  private readonly fault: ElevenLabsOnlyFaultName | undefined;
  private readonly format: messages.AgentFormat;
  private readonly account = new HeardAccount();
  private readonly frames: CallerFrames;
  private resampler: StreamResampler | undefined;
  private text: TextSession | undefined;
  private now = 0;
  /** Number of the latest audio message and, counted separately, of the latest ping. */
  private events = 0;
  private pings = 0;
  private pingAt = 0;
  private answers = 0;
  private answeredAt = 0;
  private answer: SentAnswer = { item: '', text: '', sentMs: 0, bytes: new Uint8Array(0) };
  private hangsUp = false;
  private hasStarted = false;
  private hasFailed = false;
  private readonly openTools = new Set<string>();

  constructor(
    private readonly socket: ElevenLabsSocket,
    private readonly options: ElevenLabsSessionOptions,
  ) {
    const { fault, format = 'pcm_16000', ...rest } = options;
    this.format = format;
    this.fault = fault !== undefined && isElevenLabsOnlyFault(fault) ? fault : undefined;
    this.frames = new CallerFrames(messages.AGENT_FORMATS[format]);
    const planted = fault === undefined || isElevenLabsOnlyFault(fault) ? {} : plantedBy(fault);
    this.agent = new VoiceAgent(this.line(), { ...rest, ...planted, hostedTools: () => CLIENT_TOOLS });
  }

  onMessage(now: number, data: string | Uint8Array): void {
    this.now = now;
    const message = messages.readClientMessage(data);
    if (!message) return this.socket.close(1008);
    if (this.text) return this.text.receive(message);
    switch (message.type) {
      case 'conversation_initiation_client_data':
        return this.start(message);
      case 'user_audio_chunk':
        return this.hear(Buffer.from(String(message['user_audio_chunk']), 'base64'));
      case 'client_tool_result':
        return this.toolResult(String(message['tool_call_id']), String(message['result']));
      default:
    }
  }

  tick(now: number): void {
    this.now = now;
    if (!this.hasStarted || this.text) return;
    this.agent.tick(now);
    if (now - this.pingAt >= PING_MS) {
      this.pingAt = now;
      this.socket.send(messages.ping(++this.pings));
    }
    const isDue = this.answers === FAULTY_ANSWER && now - this.answeredAt >= FALSE_INTERRUPTION_AFTER_MS;
    if (this.fault === 'false-interruption' && isDue && !this.hasFailed) {
      this.hasFailed = true;
      this.agent.fallSilent(now);
    }
  }

  private start(message: messages.ClientMessage): void {
    if (this.hasStarted) return;
    this.hasStarted = true;
    this.socket.send(messages.metadata(this.format));
    const { conversation } = (message['conversation_config_override'] ?? {}) as {
      conversation?: { text_only?: unknown };
    };
    if (conversation?.text_only === true) {
      const { fault, today } = this.options;
      // `slow-answer` has the same name on the telephone.
      const planted = fault !== undefined && isFault(fault) ? { fault } : {};
      this.text = new TextSession(this.socket, { ...planted, now: () => today, clientTools: CLIENT_TOOLS });
    } else this.agent.start(this.now);
  }

  private hear(bytes: Uint8Array): void {
    if (this.hasStarted) this.frames.push(bytes, (frame, laterMs) => this.agent.hear(this.now - laterMs, frame));
  }

  private toolResult(id: string, content: string): void {
    if (!this.openTools.delete(id)) return;
    this.agent.toolResult(id, content);
    if (this.openTools.size === 0) this.agent.goOn(this.now);
  }

  private line(): AgentLine {
    return {
      answer: ({ text, then }, bytes) => {
        this.answers += 1;
        this.answeredAt = this.now;
        this.hangsUp = then === 'hang-up' && this.options.fault !== 'never-hangs-up';
        this.answer = { item: `answer-${this.answers}`, text, sentMs: 0, bytes: new Uint8Array(0) };
        this.resampler = this.rate === RATE ? undefined : new StreamResampler(RATE, this.rate);
        if (bytes === 0 || this.isMute) return;
        if (this.fault === 'error-message')
          this.socket.send(messages.error(1011, 'mcp_tool_error', 'The planted error'));
      },
      media: (bytes) => this.media(bytes),
      mark: () => {
        if (this.resampler) this.send(encodeAudio(this.audioFormat, this.resampler.flush()));
        if (!this.hangsUp || this.isMute) return;
        // The client hangs up when it has played the goodbye.
        this.socket.send(messages.toolRequest(this.events, 'end_call_1', 'end_call'));
        this.socket.send(messages.toolResponse(this.events, 'end_call_1', 'end_call'));
      },
      clear: () => this.interrupted(),
      callTools: (calls) => {
        for (const { id, name, arguments: json } of calls) {
          this.openTools.add(id);
          this.socket.send(messages.clientTool(this.events, id, name, JSON.parse(json) as object));
        }
      },
      hangUp: () => {
        if (!this.hangsUp) this.socket.close();
      },
      callerEnds: (heard) => this.socket.send(messages.heard(this.events, heard)),
    };
  }

  private get isMute(): boolean {
    return this.fault === 'stops-answering' && this.answers > FAULTY_ANSWER;
  }

  private get audioFormat() {
    return messages.AGENT_FORMATS[this.format];
  }

  private get rate(): number {
    return this.audioFormat.rate;
  }

  private media(mulaw: Uint8Array): void {
    if (this.isMute) return;
    const isFirst = this.answer.sentMs === 0;
    const pcm = decodeMulaw(mulaw);
    const ms = (mulaw.length * 1_000) / RATE;
    this.answer.sentMs += ms;
    this.account.delta(this.now, this.answer.item, ms);
    this.send(encodeAudio(this.audioFormat, this.resampler ? this.resampler.push(pcm) : pcm));
    if (isFirst && this.fault !== 'no-answer-events') {
      this.socket.send(messages.response(this.events, this.answer.text));
    }
  }

  private send(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.answer.bytes = bytes;
    this.socket.send(messages.audio(++this.events, bytes));
  }

  /** The platform corrects the answer to what it believes was heard. */
  private interrupted(): void {
    const { text, item, bytes, sentMs } = this.answer;
    this.socket.send(messages.interruption(this.events));
    if (this.fault === 'audio-after-interruption') {
      for (let n = 0; n < LATE_PARTS; n++) this.socket.send(messages.audio(this.events, bytes));
    }
    if (!this.account.has(item) || this.fault === 'no-answer-events') return;
    const share = this.account.cut(this.now, item) / Math.max(sentMs, (text.length * 1_000) / 15);
    const heard = this.fault === 'wrong-correction' ? text : text.slice(0, Math.round(text.length * share));
    this.socket.send(messages.correction(this.events, text, `${heard.trim()}...`));
  }
}
