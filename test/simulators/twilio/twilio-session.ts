import { decodeMulaw } from '../../../libs/audio/index.js';
import { FRAME_MS, FRAME_SAMPLES, RATE } from '../agent/voice/frames.js';
import type { AgentLine } from '../agent/voice/mouth.js';
import { clearMessage, type FromTwilio, markMessage, mediaMessage, readTwilioMessage } from './twilio-messages.js';
import { VoiceAgent, type VoiceAgentOptions } from '../agent/voice/voice-agent.js';
import { type VoiceBehaviour, voiceBehaviourOf } from '../agent/voice/voice-faults.js';

/** The agent's end of a WebSocket connection. */
export interface AgentSocket {
  send(text: string): void;
  close(): void;
}

/** A jump of the timestamp up to here is a loss on the line and is filled; more is taken for a fault of the peer. */
const MOST_LOST_MS = 500;

/**
 * The agent's side of one call over Twilio Media Streams. It has no socket and no timer: its driver passes the messages and
 * calls `tick` at least every 20 ms, all with times in milliseconds of one clock, so that a call can run on a virtual clock.
 */
export class TwilioAgentSession {
  private readonly agent: VoiceAgent;
  private readonly behaviour: VoiceBehaviour;
  private streamSid = '';
  private heardMs = 0;
  private samples: Int16Array = new Int16Array(0);
  private lastFrame: Int16Array = new Int16Array(FRAME_SAMPLES);

  callSid = '';

  constructor(
    private readonly socket: AgentSocket,
    options: VoiceAgentOptions,
  ) {
    this.behaviour = voiceBehaviourOf(options.fault);
    this.agent = new VoiceAgent(this.line(), options);
  }

  /** Whether the agent has ended the call to put the caller through to a colleague. */
  get transfers(): boolean {
    return this.agent.transfers;
  }

  /** A message of Twilio; binary ones do not exist. */
  onMessage(now: number, data: string | Uint8Array): void {
    const message = typeof data === 'string' ? readTwilioMessage(data) : undefined;
    if (message) this.receive(now, message);
  }

  tick(now: number): void {
    this.agent.tick(now);
  }

  private receive(now: number, message: FromTwilio): void {
    switch (message.event) {
      case 'start': {
        const { streamSid, callSid } = message;
        this.callSid = callSid;
        this.streamSid = this.behaviour.streamSid === 'right' ? streamSid : callSid;
        return this.agent.start(now);
      }
      case 'media':
        return this.hear(now, message.timestampMs, decodeMulaw(message.mulaw));
      case 'dtmf':
        return this.agent.key(now, message.digit);
      case 'mark':
        return this.agent.onMark(now, message.name);
      case 'stop':
        return;
    }
  }

  private hear(now: number, timestampMs: number, pcm: Int16Array): void {
    const lostMs = timestampMs - this.heardMs;
    // The last frame again: silence in the middle of a word would look like the end of a sound.
    for (let lost = FRAME_MS; lost <= lostMs && lostMs <= MOST_LOST_MS; lost += FRAME_MS) {
      this.agent.hear(now - (pcm.length * 1_000) / RATE, this.lastFrame);
    }
    this.heardMs = timestampMs + (pcm.length * 1_000) / RATE;
    this.samples = join(this.samples, pcm);
    while (this.samples.length >= FRAME_SAMPLES) {
      const frame = this.samples.slice(0, FRAME_SAMPLES);
      this.samples = this.samples.slice(FRAME_SAMPLES);
      this.lastFrame = frame;
      this.agent.hear(now - (this.samples.length * 1_000) / RATE, frame);
    }
  }

  private line(): AgentLine {
    const send = (text: string) => this.socket.send(text);
    return {
      media: (bytes) => send(mediaMessage(this.streamSid, bytes)),
      mark: (name) => send(markMessage(this.streamSid, this.behaviour.namesMarks ? name : undefined)),
      clear: () => send(clearMessage(this.streamSid)),
      hangUp: () => this.socket.close(),
    };
  }
}

function join(first: Int16Array, second: Int16Array): Int16Array {
  if (first.length === 0) return second;
  const whole = new Int16Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}
