import { CallerFrames } from '../agent/voice/caller-frames.js';
import { FRAME_MS, FRAME_SAMPLES, RATE } from '../agent/voice/frames.js';
import type { AgentLine } from '../agent/voice/mouth.js';
import { clearMessage, type FromTwilio, markMessage, mediaMessage, readTwilioMessage } from './messages.js';
import { VoiceAgent, type VoiceAgentOptions } from '../agent/voice/voice-agent.js';
import { type VoiceBehaviour, voiceBehaviourOf } from '../agent/voice/voice-faults.js';
import type { Session, SessionSocket } from '../session-sockets.js';

/** A jump of the timestamp up to here is a loss on the line and is filled; more is taken for a fault of the peer. */
const MOST_LOST_MS = 500;

/** The reference agent's side of one call over Twilio Media Streams. */
export class TwilioAgentSession implements Session {
  private readonly agent: VoiceAgent;
  private readonly behaviour: VoiceBehaviour;
  private streamSid = '';
  private heardMs = 0;
  private readonly frames = new CallerFrames({ encoding: 'mulaw', rate: RATE });
  private lastFrame: Int16Array = new Int16Array(FRAME_SAMPLES);

  callSid = '';

  constructor(
    private readonly socket: SessionSocket,
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
        return this.hear(now, message.timestampMs, message.mulaw);
      case 'dtmf':
        return this.agent.key(now, message.digit);
      case 'mark':
        return this.agent.onMark(now, message.name);
    }
  }

  private hear(now: number, timestampMs: number, mulaw: Uint8Array): void {
    const lostMs = timestampMs - this.heardMs;
    const ms = (mulaw.length * 1_000) / RATE;
    // The last frame again: silence in the middle of a word would look like the end of a sound.
    for (let lost = FRAME_MS; lost <= lostMs && lostMs <= MOST_LOST_MS; lost += FRAME_MS) {
      this.agent.hear(now - ms, this.lastFrame);
    }
    this.heardMs = timestampMs + ms;
    this.frames.push(mulaw, (frame, laterMs) => {
      this.lastFrame = frame;
      this.agent.hear(now - laterMs, frame);
    });
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
