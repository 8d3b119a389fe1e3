import { EventEmitter } from 'node:events';
import { Inject, Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Client } from 'pg';
import { DATABASE_URL } from './database.tokens.js';
import { setSession } from './session.js';

/** Interval of the heartbeat. Together with its timeout it stays below one second. */
const HEARTBEAT_MS = 400;
const HEARTBEAT_TIMEOUT_MS = 400;
const RECONNECT_MS = 250;

/**
 * PostgreSQL's LISTEN on a connection of its own. `live` is true only while a notification sent now would arrive:
 * a cache that relies on notifications must not be trusted while it is false.
 */
@Injectable()
export class Notifications implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(Notifications.name);
  private readonly events = new EventEmitter().setMaxListeners(0);
  private client: Client | undefined;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;
  /** Monotonic clock, in milliseconds: setting the system clock back must not make a dead connection look alive. */
  private lastHeartbeat = 0;

  constructor(@Inject(DATABASE_URL) private readonly url: string) {}

  /** Whether notifications reach this process at present. */
  get live(): boolean {
    return this.client !== undefined && performance.now() - this.lastHeartbeat < HEARTBEAT_MS + HEARTBEAT_TIMEOUT_MS;
  }

  /**
   * Calls `handler` for every notification on `channel`, and with `undefined` after a reconnection, when some may
   * have been missed. Subscribe before the application has started.
   */
  subscribe(channel: string, handler: (payload: string | undefined) => void): void {
    this.events.on(channel, handler);
  }

  async onModuleInit(): Promise<void> {
    await this.connect();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    const { client } = this;
    this.client = undefined;
    await client?.end().catch(() => undefined);
  }

  private async connect(): Promise<void> {
    const client = new Client({
      connectionString: this.url,
      application_name: 'voice-agent-testing notifications',
      connectionTimeoutMillis: 5_000,
      query_timeout: HEARTBEAT_TIMEOUT_MS,
      keepAlive: true,
    });
    client.on('error', () => this.lose(client));
    client.on('end', () => this.lose(client));
    client.on('notification', ({ channel, payload }) => this.events.emit(channel, payload ?? ''));
    try {
      await client.connect();
      await setSession(client);
      for (const channel of this.events.eventNames())
        await client.query(`LISTEN ${client.escapeIdentifier(String(channel))}`);
    } catch (error) {
      await client.end().catch(() => undefined);
      if (this.client === undefined) this.retry();
      this.logger.debug(`Cannot listen: ${String(error)}`);
      return;
    }
    if (this.stopped) return void (await client.end());
    this.client = client;
    this.lastHeartbeat = performance.now();
    for (const channel of this.events.eventNames()) this.events.emit(channel, undefined);
    this.schedule(() => this.beat(client), HEARTBEAT_MS);
  }

  /** A half-open TCP connection looks alive for hours: only a response proves that notifications still arrive. */
  private async beat(client: Client): Promise<void> {
    try {
      await client.query('SELECT 1');
      this.lastHeartbeat = performance.now();
      this.schedule(() => this.beat(client), HEARTBEAT_MS);
    } catch {
      this.lose(client);
    }
  }

  private lose(client: Client): void {
    if (this.client !== client || this.stopped) return;
    this.client = undefined;
    this.logger.warn('Lost the connection for notifications; caches are bypassed until it is back');
    client.end().catch(() => undefined);
    this.retry();
  }

  private retry(): void {
    this.schedule(() => this.connect(), RECONNECT_MS);
  }

  private schedule(work: () => Promise<void>, delay: number): void {
    if (this.stopped) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void work(), delay);
    this.timer.unref();
  }
}
