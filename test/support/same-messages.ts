import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/** Messages that are sent this long after the first one. */
export interface Moment {
  readonly atMs: number;
  readonly messages: readonly string[];
}

/** What a client has sent to cut an item off. */
export interface Cut {
  readonly client: string;
  readonly itemId: string;
  readonly audioEndMs: number;
}

type Received = Readonly<Record<string, unknown>>;

const MULAW = { format: { type: 'audio/pcmu' } } as const;
const SESSION = { type: 'realtime', audio: { input: MULAW, output: MULAW } } as const;

/**
 * A Realtime server that sends the same messages to all of its clients at the same moments, once each has asked for a
 * response. A client is known by the path of its address.
 */
export class SameMessages {
  readonly cuts: Cut[] = [];
  private readonly ready = new Set<WebSocket>();
  private readonly timers: NodeJS.Timeout[] = [];

  private constructor(
    private readonly server: WebSocketServer,
    private readonly clients: number,
    private readonly moments: readonly Moment[],
  ) {
    server.on('connection', (socket, { url = '' }) => {
      socket.send(
        JSON.stringify({ event_id: 'event_created', type: 'session.created', session: { type: 'realtime' } }),
      );
      socket.on('message', (data: Buffer) =>
        this.receive(socket, url.slice(1), JSON.parse(data.toString()) as Received),
      );
    });
  }

  static async start(clients: number, moments: readonly Moment[]): Promise<SameMessages> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    return new SameMessages(server, clients, moments);
  }

  urlOf(client: string): string {
    return `ws://127.0.0.1:${(this.server.address() as AddressInfo).port}/${client}`;
  }

  async close(): Promise<void> {
    for (const timer of this.timers) clearTimeout(timer);
    for (const client of this.server.clients) client.terminate();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private receive(socket: WebSocket, client: string, event: Received): void {
    if (event['type'] === 'session.update')
      socket.send(JSON.stringify({ event_id: 'event_session', type: 'session.updated', session: SESSION }));
    if (event['type'] === 'conversation.item.truncate') {
      this.cuts.push({ client, itemId: String(event['item_id']), audioEndMs: Number(event['audio_end_ms']) });
    }
    if (event['type'] !== 'response.create' || this.ready.has(socket)) return;
    this.ready.add(socket);
    if (this.ready.size < this.clients) return;
    for (const { atMs, messages } of this.moments) {
      this.timers.push(
        setTimeout(() => {
          for (const message of messages) for (const one of this.ready) one.send(message);
        }, atMs),
      );
    }
  }
}
