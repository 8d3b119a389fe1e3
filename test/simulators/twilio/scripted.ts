import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Session, SessionSocket } from '../session-sockets.js';
import { type Beginning, mediaMessage, type TwilioAgents, type Webhook } from './messages.js';

export interface AgentScript {
  /** Returns the TwiML that answers a webhook, or writes the response itself. */
  readonly webhook?: (request: Webhook, server: { readonly host: string }, response: ServerResponse) => string | void;
  /** Status with which an upgrade is refused, or 0 if it was answered; without one it is accepted. */
  readonly upgrade?: (request: IncomingMessage, socket: Duplex) => number | undefined;
  /** Called after the message `start`. */
  readonly onStart?: (stream: ScriptedStream, start: Record<string, any>) => void;
  readonly onMessage?: (stream: ScriptedStream, message: Record<string, any>) => void;
}

/** A call whose agent does what its script says. */
export class ScriptedStream implements Session {
  readonly messages: Record<string, any>[] = [];
  streamSid = '';

  constructor(
    readonly socket: SessionSocket,
    readonly path: string,
    readonly headers: IncomingHttpHeaders,
    private readonly script: AgentScript,
    readonly onClose: (now: number, code: number) => void,
  ) {}

  /** Sends a message with the right streamSid. */
  readonly send = (message: object): void =>
    this.socket.send(JSON.stringify({ streamSid: this.streamSid, ...message }));

  readonly play = (sound: Uint8Array): void => this.socket.send(mediaMessage(this.streamSid, sound));

  onMessage(_now: number, data: string | Uint8Array): void {
    const message = JSON.parse(String(data)) as Record<string, any>;
    this.messages.push(message);
    if (message.event === 'start') {
      this.streamSid = message.streamSid as string;
      this.script.onStart?.(this, message);
    }
    this.script.onMessage?.(this, message);
  }

  tick(): void {}
}

/** Agents that answer as a test decides; they record their requests and streams. */
export abstract class ScriptedAgents implements TwilioAgents {
  readonly webhooks: Webhook[] = [];
  readonly streams: ScriptedStream[] = [];
  /** Codes with which streams were closed. */
  readonly closes: number[] = [];

  protected constructor(private readonly script: AgentScript) {}

  abstract get host(): string;

  async prepare(): Promise<void> {}

  hasWebhook(): boolean {
    return true;
  }

  answer(webhook: Webhook, response: ServerResponse): string | void {
    this.webhooks.push(webhook);
    return this.script.webhook?.(webhook, this, response);
  }

  begin(request: IncomingMessage, socket: Duplex): Beginning {
    const status = this.script.upgrade?.(request, socket);
    if (status !== undefined) return status > 0 ? [`${status} No`, 'refused'] : undefined;
    const { url = '', headers } = request;
    return (line) => {
      const stream = new ScriptedStream(line, url, headers, this.script, (_now, code) => this.closes.push(code));
      this.streams.push(stream);
      return stream;
    };
  }
}
