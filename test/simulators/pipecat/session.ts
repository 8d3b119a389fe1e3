import { decodeMulaw, encodeAudio, StreamResampler } from '../../../libs/audio/index.js';
import type { ToolName } from '../agent/tools.js';
import { CallerFrames } from '../agent/voice/caller-frames.js';
import { RATE } from '../agent/voice/frames.js';
import type { AgentLine } from '../agent/voice/mouth.js';
import { VoiceAgent, type VoiceAgentOptions } from '../agent/voice/voice-agent.js';
import { plantedBy } from '../agent/voice/word-faults.js';
import type { Session, SessionSocket } from '../session-sockets.js';
import { bot, readClientFrame, type Rtvi, says } from './messages.js';
import { isPipecatOnlyFault, type PipecatFaultName, type PipecatOnlyFaultName } from './pipecat-faults.js';

export interface PipecatSessionOptions extends Omit<VoiceAgentOptions, 'fault' | 'wordFault' | 'hostedTools'> {
  readonly fault?: PipecatFaultName | undefined;
}

const OUT_RATE = 24_000;
/** After the fault `changes-rate`. */
const OTHER_RATE = 16_000;
const PCM = { encoding: 'pcm16' } as const;
/** Number of the answer in which a planted fault happens; the greeting is 1. */
const FAULTY_ANSWER = 2;
/** The bot without RTVI greets so long after the connection. */
const GREETS_MS = 300;

/** A handler of the bot takes so long; a result of the client that comes before counts. */
const HANDLER_MS = 200;
const TOOLS: ReadonlySet<string> = new Set<ToolName>(['check_availability', 'book_table', 'cancel_booking']);

/** The agent as a bot of Pipecat: one connection. */
export class PipecatAgentSession implements Session {
  private readonly agent: VoiceAgent;
  private readonly fault: PipecatOnlyFaultName | undefined;
  private frames: CallerFrames | undefined;
  private resampler = new StreamResampler(RATE, OUT_RATE);
  private now = 0;
  private openedAt: number | undefined;
  private answers = 0;
  private text = '';
  private hasStarted = false;
  private isSpeaking = false;
  /** When the handlers of the bot return. */
  private readonly openTools = new Map<string, number>();

  constructor(
    private readonly socket: SessionSocket,
    options: PipecatSessionOptions,
  ) {
    const { fault, ...rest } = options;
    this.fault = fault !== undefined && isPipecatOnlyFault(fault) ? fault : undefined;
    const planted = fault === undefined || isPipecatOnlyFault(fault) ? {} : plantedBy(fault);
    this.agent = new VoiceAgent(this.line(), { ...rest, ...planted, hostedTools: () => TOOLS });
  }

  onMessage(now: number, data: string | Uint8Array): void {
    this.now = now;
    const frame = readClientFrame(data);
    if (frame.kind === 'audio') {
      this.frames ??= new CallerFrames({ ...PCM, rate: frame.rate as 16_000 });
      return this.frames.push(frame.pcm, (heard, laterMs) => this.agent.hear(this.now - laterMs, heard));
    }
    this.obey(frame.message);
  }

  tick(now: number): void {
    this.now = now;
    this.openedAt ??= now;
    if (this.fault === 'no-rtvi' && now - this.openedAt >= GREETS_MS) this.start();
    for (const [id, due] of this.openTools) if (due <= now) this.toolResult(id, {});
    if (this.hasStarted) this.agent.tick(now);
  }

  private obey({ type, data = {} }: Rtvi): void {
    if (type === 'client-ready' && this.fault !== 'no-rtvi') {
      this.say(says.ready());
      this.start();
    }
    if (type === 'dtmf') for (const button of data['buttons'] as string[]) this.agent.key(this.now, button);
    if (type === 'disconnect-bot') this.socket.close();
    if (type === 'llm-function-call-result') this.toolResult(String(data['tool_call_id']), data['result']);
  }

  /** The first result of a call counts. */
  private toolResult(id: string, result: unknown): void {
    if (!this.openTools.delete(id)) return;
    this.say(says.callStopped(id, result));
    this.agent.toolResult(id, typeof result === 'string' ? result : JSON.stringify(result));
    if (this.openTools.size === 0) this.agent.goOn(this.now);
  }

  private start(): void {
    if (this.hasStarted) return;
    this.hasStarted = true;
    this.agent.start(this.now);
  }

  private line(): AgentLine {
    return {
      answer: ({ text }, length) => {
        this.answers += 1;
        this.text = text;
        this.resampler = new StreamResampler(RATE, this.outRate);
        if (length === 0 || this.isMute) return;
        if (this.fault === 'broken-frame') this.socket.send(bot.audio(Buffer.alloc(960)).subarray(0, 40));
        this.isSpeaking = true;
        this.say(says.started(), says.output(text, this.answers));
      },
      media: (mulaw) => this.audio(this.resampler.push(decodeMulaw(mulaw))),
      mark: () => {
        this.audio(this.resampler.flush());
        if (!this.isMute) this.say(says.output(this.text, this.answers, this.text));
        this.silent();
      },
      clear: () => {
        this.socket.send(bot.interruption());
        this.say(says.interrupted());
        this.silent();
      },
      callTools: (calls) => {
        for (const { id, name, arguments: json } of calls) {
          this.openTools.set(id, this.now + HANDLER_MS);
          this.say(says.callStarted(name), says.call(id, name, JSON.parse(json) as object));
        }
      },
      hangUp: () => {
        if (!this.isMute) this.socket.close();
      },
      callerStarts: () => this.say(says.callerStarted()),
      callerEnds: (heard) => this.say(says.heard(heard)),
    };
  }

  private get outRate() {
    return this.fault === 'changes-rate' && this.answers >= FAULTY_ANSWER ? OTHER_RATE : OUT_RATE;
  }

  private get isMute(): boolean {
    return this.fault === 'stops-answering' && this.answers > FAULTY_ANSWER;
  }

  private silent(): void {
    if (this.isSpeaking && !this.isMute) this.say(says.stopped());
    this.isSpeaking = false;
  }

  private audio(pcm: Int16Array): void {
    if (pcm.length > 0 && !this.isMute) this.socket.send(bot.audio(encodeAudio(PCM, pcm), this.outRate));
  }

  private say(...messages: readonly Rtvi[]): void {
    if (this.fault === 'no-rtvi') return;
    for (const message of messages) this.socket.send(bot.message(message));
  }
}
