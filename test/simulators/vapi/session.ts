import { type AudioFormat, decodeMulaw, encodeAudio, StreamResampler } from '../../../libs/audio/index.js';
import type { ToolName } from '../agent/tools.js';
import { CallerFrames } from '../agent/voice/caller-frames.js';
import { RATE } from '../agent/voice/frames.js';
import type { AgentLine } from '../agent/voice/mouth.js';
import { plantedBy } from '../agent/voice/word-faults.js';
import { VoiceAgent, type VoiceAgentOptions } from '../agent/voice/voice-agent.js';
import type { Session, SessionSocket } from '../session-sockets.js';
import { client, type ClientMessage, type Format, isEndCall, toolCalls } from './messages.js';
import { isVapiOnlyFault, type VapiFaultName, type VapiOnlyFaultName } from './vapi-faults.js';

export interface VapiSessionOptions extends Omit<VoiceAgentOptions, 'fault' | 'wordFault' | 'hostedTools'> {
  readonly fault?: VapiFaultName | undefined;
  readonly format?: Format;
}

const AUDIO: Readonly<Record<Format, AudioFormat>> = {
  pcm_s16le: { encoding: 'pcm16', rate: 16_000 },
  mulaw: { encoding: 'mulaw', rate: 8_000 },
};

/** Tools that the platform runs. */
const TOOLS: ReadonlySet<string> = new Set<ToolName>(['check_availability', 'book_table', 'cancel_booking']);

/** Number of the answer in which a planted fault happens; the greeting is 1. */
const FAULTY_ANSWER = 2;
/** From the beginning of that answer to the false interruption: too late for a report of the caller's line before it. */
const FALSE_INTERRUPTION_AFTER_MS = 2_200;

/** The agent as an assistant of Vapi: one call. */
export class VapiAgentSession implements Session {
  private readonly agent: VoiceAgent;
  private readonly fault: VapiOnlyFaultName | undefined;
  private readonly frames: CallerFrames;
  private readonly format: Format;
  private resampler: StreamResampler | undefined;
  private now = 0;
  private answers = 0;
  private answeredAt = 0;
  private text = '';
  /** Tools whose results the agent gets at the next tick. */
  private running: readonly string[] = [];
  private hasStarted = false;
  private hasFailed = false;
  private isOver = false;

  constructor(
    private readonly socket: SessionSocket,
    options: VapiSessionOptions,
  ) {
    const { fault, format = 'pcm_s16le', ...rest } = options;
    this.format = format;
    this.fault = fault !== undefined && isVapiOnlyFault(fault) ? fault : undefined;
    this.frames = new CallerFrames(AUDIO[format]);
    const planted = fault === undefined || isVapiOnlyFault(fault) ? {} : plantedBy(fault);
    this.agent = new VoiceAgent(this.line(), { ...rest, ...planted, hostedTools: () => TOOLS });
  }

  onMessage(now: number, data: string | Uint8Array): void {
    this.now = now;
    this.start();
    if (typeof data !== 'string') {
      return this.frames.push(data, (frame, laterMs) => this.agent.hear(this.now - laterMs, frame));
    }
    if (!isEndCall(data)) return;
    this.isOver = true;
    this.socket.close();
  }

  tick(now: number): void {
    this.now = now;
    this.start();
    if (this.isOver) return;
    this.runTools();
    this.agent.tick(now);
    const isDue = this.answers === FAULTY_ANSWER && now - this.answeredAt >= FALSE_INTERRUPTION_AFTER_MS;
    if (this.fault === 'false-interruption' && isDue && !this.hasFailed) {
      this.hasFailed = true;
      this.agent.fallSilent(now);
    }
  }

  private start(): void {
    if (this.hasStarted) return;
    this.hasStarted = true;
    this.send(client.started());
    this.agent.start(this.now);
  }

  /** The platform runs the tools, with the results of the restaurant's own system. */
  private runTools(): void {
    if (this.running.length === 0) return;
    for (const id of this.running) this.agent.toolResult(id, '{}');
    this.running = [];
    this.agent.goOn(this.now);
  }

  private line(): AgentLine {
    const { rate } = AUDIO[this.format];
    return {
      answer: ({ text }, bytes) => {
        this.answers += 1;
        this.answeredAt = this.now;
        this.text = text;
        this.resampler = rate === RATE ? undefined : new StreamResampler(RATE, rate);
        if (bytes === 0 || this.isMute) return;
        this.send(client.speech('assistant', 'started', this.answers - 1));
        if (this.fault === 'broken-message') this.send({ type: 'transcript', role: 'assistant' });
        // The first message is a setting of the assistant, not output of the model.
        if (this.answers > 1) this.say(...tokensOf(text).map((token) => client.model(token, this.turnId)));
      },
      media: (bytes) => this.media(bytes),
      mark: () => {
        if (this.resampler) this.audio(this.resampler.flush());
        if (this.isMute) return;
        this.say(client.transcript('assistant', this.text));
        this.send(client.speech('assistant', 'stopped', this.answers - 1));
      },
      clear: () => this.send(client.interrupted(this.turnId)),
      callTools: (calls) => {
        this.send(toolCalls(calls));
        this.running = calls.map(({ id }) => id);
      },
      hangUp: () => {
        if (this.isMute) return;
        this.send(client.ended('assistant-ended-call'));
        this.socket.close();
      },
      callerStarts: () => this.send(client.speech('user', 'started', this.answers)),
      callerEnds: (heard) => this.send(client.transcript('user', heard)),
    };
  }

  private get isMute(): boolean {
    return this.fault === 'stops-answering' && this.answers > FAULTY_ANSWER;
  }

  private get turnId(): string {
    return `turn-${this.answers}`;
  }

  private media(mulaw: Uint8Array): void {
    if (this.isMute) return;
    const pcm = decodeMulaw(mulaw);
    this.audio(this.resampler ? this.resampler.push(pcm) : pcm);
  }

  private audio(pcm: Int16Array): void {
    if (pcm.length > 0) this.socket.send(encodeAudio(AUDIO[this.format], pcm));
  }

  private say(...words: readonly ClientMessage[]): void {
    if (this.fault === 'no-word-messages') return;
    for (const one of words) this.send(one);
  }

  private send(message: ClientMessage): void {
    this.socket.send(JSON.stringify(message));
  }
}

/** The words of an answer as a model generates them. */
const tokensOf = (text: string): string[] => text.match(/\s*\S{1,6}/g) ?? [];
