import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Workspace } from './installation.js';
import type { Random } from './random.js';
import type { Scene } from './virtual-client.js';

/** When a client disconnects. */
const DISCONNECT_POINTS = [
  'half a head',
  'half a body',
  'before the response',
  'within the response',
  'within events',
] as const;

/** Sends requests on its own connections and disconnects in the middle of them. */
export class VanishingClient {
  count = 0;

  constructor(
    private readonly workspace: Workspace,
    private readonly scene: Scene,
    private readonly random: Random,
    private readonly runId: () => string | undefined,
  ) {}

  async work(): Promise<void> {
    while (!this.scene.isOver) {
      await this.vanish();
      await sleep(this.random.between(50, 200));
    }
  }

  /** Starts many requests at once. */
  async burst(clients: number): Promise<void> {
    await Promise.all(Array.from({ length: clients }, () => this.vanish()));
  }

  private async vanish(): Promise<void> {
    this.count++;
    const { hostname, port } = new URL(this.random.pick(this.scene.urls)!);
    const point = this.random.pick(DISCONNECT_POINTS)!;
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.write(this.text(point));
    if (point === 'within the response' || point === 'within events') socket.once('data', () => socket.destroy());
    setTimeout(() => socket.destroy(), this.random.between(5, point === 'within events' ? 400 : 60));
    await closed;
  }

  private text(point: (typeof DISCONNECT_POINTS)[number]): string {
    const head = (line: string, ...more: string[]) =>
      [`${line} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${this.workspace.key}`, ...more].join('\r\n');
    if (point === 'half a head') return head('GET /agents', 'X-Half: ');
    if (point === 'within the response') return `${head('GET /agents?limit=100')}\r\n\r\n`;
    if (point === 'within events') return `${head(`GET /runs/${this.runId() ?? 'none'}/events`)}\r\n\r\n`;
    const body = JSON.stringify({ name: `vanished ${this.count}` });
    const post = head('POST /personalities', 'Content-Type: application/json', `Content-Length: ${body.length}`);
    return `${post}\r\n\r\n${point === 'half a body' ? body.slice(0, body.length / 2) : body}`;
  }
}
