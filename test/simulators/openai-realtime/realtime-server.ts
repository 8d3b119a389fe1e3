import type { AddressInfo } from 'node:net';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type WebSocket, WebSocketServer } from 'ws';
import { decodeMulaw, dbfs } from '../../../libs/audio/index.js';

const BYTES_PER_MS = 8;
/** Length of one delta, and how often one is sent: faster than it is played, as OpenAI does. */
const DELTA_MS = 100;
const DELTA_EVERY_MS = 20;
/** Speech of the caller begins after `on` and ends after `off` milliseconds. */
const VAD = { dbfs: -40, on: 100, off: 500 } as const;

type Event = Record<string, any>;

/**
 * The part of OpenAI's Realtime API that a telephone agent uses: detects the caller's speech in mu-law, answers every turn
 * with the same audio, and records where the agent truncates it. Protocol:
 * https://platform.openai.com/docs/api-reference/realtime-server-events
 */
export class RealtimeServer {
  readonly truncations: { readonly itemId: string; readonly audioEndMs: number }[] = [];

  private constructor(
    private readonly server: WebSocketServer,
    answer: Uint8Array,
  ) {
    server.on('connection', (socket) => new Conversation(socket, answer, this.truncations));
  }

  /** @param answer audio of every answer in mu-law at 8,000 Hz */
  static async start(answer: Uint8Array): Promise<RealtimeServer> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    return new RealtimeServer(server, answer);
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1/realtime`;
  }

  async close(): Promise<void> {
    for (const client of this.server.clients) client.terminate();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

class Conversation {
  private session: Event = { type: 'realtime', object: 'realtime.session', id: `sess_${randomUUID()}` };
  private isSpeaking = false;
  /** Milliseconds for which the opposite of `isSpeaking` was heard. */
  private changedMs = 0;
  private inputItem = '';
  private sending: NodeJS.Timeout | undefined;
  private response: Event | undefined;

  constructor(
    private readonly socket: WebSocket,
    private readonly answer: Uint8Array,
    private readonly truncations: { itemId: string; audioEndMs: number }[],
  ) {
    socket.on('message', (data: Buffer) => this.receive(JSON.parse(data.toString()) as Event));
    socket.on('close', () => clearInterval(this.sending));
    this.send({ type: 'session.created', session: this.session });
  }

  private receive(event: Event): void {
    switch (event['type']) {
      case 'session.update':
        this.session = { ...this.session, ...event['session'] };
        return this.send({ type: 'session.updated', session: this.session });
      case 'input_audio_buffer.append':
        return this.hear(Buffer.from(event['audio'] as string, 'base64'));
      case 'conversation.item.truncate':
        this.truncations.push({ itemId: event['item_id'], audioEndMs: event['audio_end_ms'] });
        return this.send({ ...event, type: 'conversation.item.truncated' });
    }
  }

  private hear(mulaw: Uint8Array): void {
    const isActive = dbfs(decodeMulaw(mulaw)) > VAD.dbfs;
    this.changedMs = isActive === this.isSpeaking ? 0 : this.changedMs + mulaw.length / BYTES_PER_MS;
    if (this.changedMs < (this.isSpeaking ? VAD.off : VAD.on)) return;
    this.isSpeaking = !this.isSpeaking;
    this.changedMs = 0;
    if (this.isSpeaking) this.callerStarts();
    else this.callerStops();
  }

  private callerStarts(): void {
    this.inputItem = `item_${randomUUID()}`;
    this.send({ type: 'input_audio_buffer.speech_started', audio_start_ms: 0, item_id: this.inputItem });
    this.finish('cancelled');
  }

  private callerStops(): void {
    const item = { item_id: this.inputItem };
    this.send({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: 0, ...item });
    this.send({ type: 'input_audio_buffer.committed', previous_item_id: null, ...item });
    this.respond();
  }

  private respond(): void {
    const itemId = `item_${randomUUID()}`;
    const place = { response_id: `resp_${randomUUID()}`, item_id: itemId, output_index: 0, content_index: 0 };
    this.response = { id: place.response_id, object: 'realtime.response', status: 'in_progress', output: [] };
    this.send({ type: 'response.created', response: this.response });
    const item = { id: itemId, type: 'message', role: 'assistant', status: 'in_progress', content: [] };
    this.send({ type: 'response.output_item.added', response_id: place.response_id, output_index: 0, item });
    let at = 0;
    const startedAt = performance.now();
    this.sending = setInterval(() => {
      // A late timer catches up: slower by a fifth, the pace would be that of audio at four times the rate of the line.
      const dueBytes = ((performance.now() - startedAt) / DELTA_EVERY_MS) * DELTA_MS * BYTES_PER_MS;
      while (at < dueBytes) {
        const delta = this.answer.subarray(at, (at += DELTA_MS * BYTES_PER_MS));
        if (delta.length === 0) {
          this.send({ type: 'response.output_audio.done', ...place });
          return this.finish('completed');
        }
        this.send({ type: 'response.output_audio.delta', ...place, delta: Buffer.from(delta).toString('base64') });
      }
    }, DELTA_EVERY_MS);
  }

  private finish(status: 'completed' | 'cancelled'): void {
    clearInterval(this.sending);
    if (!this.response) return;
    this.send({ type: 'response.done', response: { ...this.response, status } });
    this.response = undefined;
  }

  private send(event: Event): void {
    if (this.socket.readyState === this.socket.OPEN)
      this.socket.send(JSON.stringify({ event_id: `event_${randomUUID()}`, ...event }));
  }
}
