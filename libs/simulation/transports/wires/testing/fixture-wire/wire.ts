import { AudioDecoder, encodeAudio } from '../../../../../audio/index.js';
import { OtherSide } from '../../../../other-side/other-side.js';
import { failure } from '../../../../timeline/failure.js';
import type { Wire, WireEntry, WireSide, WireState } from '../../../../voice/wire/wire.js';
import { fixtureFinding, type FixtureMessage, readMessage } from './messages.js';

export interface FixtureState extends WireState {
  readonly callId: string;
  readonly pin?: string;
}

const PCM16 = { encoding: 'pcm16' } as const;

export default ((state) => (side) => new FixtureMediaWire(state, side)) satisfies WireEntry<FixtureState>;

/** Control messages are JSON, audio is binary: 16-bit PCM in parts of any number of bytes. */
class FixtureMediaWire implements Wire {
  private readonly platform: OtherSide;
  private decoder = new AudioDecoder(PCM16);
  private item: number | undefined;

  constructor(
    private readonly state: FixtureState,
    private readonly side: WireSide,
  ) {
    this.platform = new OtherSide('the platform', state.secrets);
  }

  open(now: number): void {
    const { callId, pin } = this.state;
    this.send(now, { type: 'hello', callId, pin });
  }

  frame(now: number, pcm: Int16Array): void {
    const bytes = encodeAudio(PCM16, pcm);
    this.side.send(bytes);
    this.log(now, 'sent', `${bytes.length} bytes`);
  }

  key(now: number, digit: string): void {
    this.send(now, { type: 'key', digit });
  }

  callerThinking(now: number, on: boolean): void {
    this.send(now, { type: 'thinking', on });
  }

  message(now: number, data: string | Uint8Array): void {
    if (typeof data !== 'string') return this.audio(now, data);
    this.log(now, 'received', data);
    const message = readMessage(data);
    if (message === 'unknown') return;
    if (message !== 'invalid') return this.obey(now, message);
    this.side.finding(now, fixtureFinding('invalid_message', `Not understood: ${this.platform.excerpt(data)}`));
  }

  toolResult(now: number, id: string, json: string): void {
    this.send(now, { type: 'tool_result', id, json });
  }

  closed(now: number): void {
    this.side.finding(now, fixtureFinding('closed_without_end', 'The connection was closed without an end message'));
  }

  stop(now: number): void {
    this.send(now, { type: 'bye' });
  }

  private obey(now: number, message: FixtureMessage): void {
    const { side, platform } = this;
    switch (message.type) {
      case 'ready':
        return side.ready(now);
      case 'item':
        this.item = message.item;
        // Half a sample at the end of an item must not shift the next one.
        this.decoder = new AudioDecoder(PCM16);
        return;
      case 'said':
        return side.said(now, message.text, { item: message.item });
      case 'heard':
        return side.heardCaller(now, message.text);
      case 'tool_call':
        return side.toolCall(now, message);
      case 'drop':
        return void side.clear(now, message.item);
      case 'transfer':
        return side.event(now, { type: 'transfer', detail: platform.excerpt(message.text) });
      case 'error':
        return side.failed(now, failure('agent_error', platform.describe({ said: message.text })));
      case 'end':
        // The agent's last words are heard first.
        return side.mark(now, (played) => side.hangUp(played, platform.excerpt(message.text)));
    }
  }

  private audio(now: number, bytes: Uint8Array): void {
    this.log(now, 'received', `${bytes.length} bytes`);
    this.side.play(now, this.decoder.push(bytes), this.item);
  }

  private send(now: number, message: object): void {
    const text = JSON.stringify(message);
    this.side.send(text);
    this.log(now, 'sent', text);
  }

  private log(now: number, direction: 'sent' | 'received', text: string): void {
    if (this.side.isLogged) this.side.log(now, direction, this.platform.excerpt(text));
  }
}
