import {
  type AudioFormat,
  bytesPerSecond,
  decodeMulaw,
  encodeAudio,
  StreamResampler,
} from '../../../libs/audio/index.js';
import { RATE } from '../agent/voice/frames.js';
import type { ToolRequest } from '../agent/voice/spoken-dialogue.js';
import type { AssistantMessage, ServerEvent } from './events.js';

/** How a response ends. */
export interface ResponseEnding {
  readonly status: 'completed' | 'cancelled' | 'incomplete';
  readonly reason?: 'turn_detected' | 'client_cancelled' | 'max_output_tokens';
}

interface ResponseOptions {
  readonly id: string;
  readonly format: AudioFormat;
  readonly send: (event: ServerEvent) => void;
  /** Audio of an item was sent. */
  readonly onDelta: (itemId: string, ms: number) => void;
}

/** One response of a Realtime server: its events, in the order of the API. */
export class Response {
  private readonly itemId: string;
  private readonly resampler: StreamResampler | undefined;
  private transcript = '';
  private sentBytes = 0;
  private text = '';
  private bytes = 0;
  private outputs = 0;

  constructor(private readonly options: ResponseOptions) {
    this.itemId = options.id.replace('resp', 'item');
    const { rate } = options.format;
    if (rate !== RATE) this.resampler = new StreamResampler(RATE, rate);
    this.options.send({ type: 'response.created', response: this.head('in_progress') });
  }

  /** Begins a message. @param bytes length of its audio: mu-law at 8 kHz */
  say(text: string, bytes: number): void {
    this.text = text;
    this.bytes = bytes;
    const item = this.message('in_progress');
    this.send({ type: 'response.output_item.added', ...this.place, item });
    this.send({ type: 'conversation.item.added', item, previous_item_id: null });
    this.send({ type: 'response.content_part.added', ...this.part, part: { type: 'audio', transcript: '' } });
  }

  /** Milliseconds of its audio that were sent. */
  get sentMs(): number {
    return (this.sentBytes * 1_000) / RATE;
  }

  /** The next part of its audio, and the words that belong to it. */
  audio(mulaw: Uint8Array): void {
    this.sentBytes += mulaw.length;
    // Words lead: the model generates them before their audio.
    const share = Math.ceil((this.text.length * this.sentBytes) / this.bytes);
    const end = this.text.indexOf(' ', share);
    this.words(end === -1 ? this.text.length : end);
    this.delta(this.encoded(mulaw));
  }

  /** Asks the client to run functions. */
  call(calls: readonly ToolRequest[]): void {
    for (const { id, name, arguments: json } of calls) {
      const itemId = `item_${id}`;
      const place = { response_id: this.options.id, output_index: this.outputs };
      const item = { id: itemId, type: 'function_call', call_id: id, name } as const;
      this.send({ type: 'response.output_item.added', ...place, item: { ...item, arguments: '' } });
      this.send({
        type: 'response.function_call_arguments.done',
        ...place,
        ...{ item_id: itemId, call_id: id, name, arguments: json },
      });
      this.send({
        type: 'response.output_item.done',
        ...place,
        item: { ...item, arguments: json, status: 'completed' },
      });
      this.outputs += 1;
    }
  }

  /** Ends it. @param calls functions that are called after its words */
  end({ status, reason }: ResponseEnding, calls: readonly ToolRequest[] = []): void {
    if (this.bytes > 0) this.endMessage(status);
    this.call(calls);
    const details = { type: status, ...(reason && { reason }) };
    this.send({
      type: 'response.done',
      response: {
        ...this.head(status),
        ...(reason && { status_details: details }),
        output: this.bytes > 0 ? [this.message(status)] : [],
      },
    });
  }

  private endMessage(status: ResponseEnding['status']): void {
    if (status === 'completed') {
      this.words(this.text.length);
      if (this.resampler) this.delta(encodeAudio(this.options.format, this.resampler.flush()));
    }
    const { transcript } = this;
    this.send({ type: 'response.output_audio.done', ...this.part });
    this.send({ type: 'response.output_audio_transcript.done', ...this.part, transcript });
    this.send({ type: 'response.content_part.done', ...this.part, part: { type: 'audio', transcript } });
    this.send({ type: 'response.output_item.done', ...this.place, item: this.message(status) });
    this.outputs += 1;
  }

  private message(status: 'in_progress' | ResponseEnding['status']): AssistantMessage {
    const isWhole = status === 'in_progress' || status === 'completed';
    return {
      ...{ id: this.itemId, type: 'message', role: 'assistant', status: isWhole ? status : 'incomplete' },
      content: status === 'in_progress' ? [] : [{ type: 'output_audio', transcript: this.transcript }],
    };
  }

  private words(until: number): void {
    const delta = this.text.slice(this.transcript.length, until);
    if (delta === '') return;
    this.transcript += delta;
    this.send({ type: 'response.output_audio_transcript.delta', ...this.part, delta });
  }

  private delta(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const delta = Buffer.from(bytes).toString('base64');
    this.send({ type: 'response.output_audio.delta', ...this.part, delta });
    this.options.onDelta(this.itemId, (bytes.length * 1_000) / bytesPerSecond(this.options.format));
  }

  private encoded(mulaw: Uint8Array): Uint8Array {
    const { format } = this.options;
    if (format.encoding === 'mulaw') return mulaw;
    const pcm = decodeMulaw(mulaw);
    return encodeAudio(format, this.resampler ? this.resampler.push(pcm) : pcm);
  }

  private head(status: 'in_progress' | ResponseEnding['status']) {
    return { id: this.options.id, object: 'realtime.response' as const, status, output: [] };
  }

  private get place() {
    return { response_id: this.options.id, output_index: 0, item_id: this.itemId };
  }

  private get part() {
    return { ...this.place, content_index: 0 };
  }

  private send(event: ServerEvent): void {
    this.options.send(event);
  }
}
