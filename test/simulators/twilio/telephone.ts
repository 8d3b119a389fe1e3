import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { isHealthy } from '../agent/faults.js';
import { noSuchFault } from '../agent/voice/platform-faults.js';
import type { PreparedVoice } from '../agent/voice/prepare.js';
import { refuse } from '../http.js';
import { preparedOnce } from '../agent/voice/voice-service.js';
import { connectStream, dial, HANG_UP, isSignedByTwilio } from './twiml.js';
import { TwilioAgentSession } from './twilio-session.js';
import type { AnswerStamp, VoiceAgentOptions } from '../agent/voice/voice-agent.js';
import { isTelephoneFault, plantedBy, type TelephoneFaultName } from '../agent/voice/word-faults.js';

export interface TelephoneOptions extends Omit<
  VoiceAgentOptions,
  'today' | 'voice' | 'recogniser' | 'onAnswer' | 'fault' | 'wordFault'
> {
  readonly fault?: TelephoneFaultName;
  /** Signatures of webhook and WebSocket are checked if it is given. */
  readonly authToken?: string;
  /** Address of the server as Twilio sees it; by default the `Host` that a request names. */
  readonly publicUrl?: string;
  readonly now?: () => number;
  /** Synthesises what the agent speaks and hears with. */
  readonly prepare: () => Promise<PreparedVoice>;
  /** Called with the agent's own times of each answer, on the clock of `performance.now()`. */
  readonly onAnswer?: (callSid: string, stamp: AnswerStamp) => void;
}

/** Number that a caller is put through to. */
export const COLLEAGUE = '+15550100199';

/** The colon may be encoded: the testing service encodes what it puts in place of `{assistantId}`. */
const ADDRESS = /^(?:\/agents\/booking(?::|%3A)([a-z-]{1,40}))?\/(voice|voice\/ended|media)$/;
const PLATFORM = 'twilio-media-streams';
const TICK_MS = 10;
const MAX_BODY = 64 * 1024;
const MAX_MESSAGE = 1024 * 1024;
const MAX_TRANSFERS = 1_000;

interface Address {
  readonly fault: TelephoneFaultName | undefined;
  /** Whether it names a fault that does not exist over this protocol. */
  readonly isUnknown: boolean;
  readonly action: 'voice' | 'voice/ended' | 'media';
}

/** The agent's telephone: webhook and media stream of Twilio, on the HTTP server of the text agent. */
export class Telephone {
  private readonly webSockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE });
  private readonly sessions = new Map<WebSocket, TwilioAgentSession>();
  private readonly transfers = new Set<string>();
  private ticker: NodeJS.Timeout | undefined;
  readonly prepare = preparedOnce(() => this.options.prepare());

  constructor(private readonly options: TelephoneOptions) {}

  /** Answers a webhook. @returns false for requests that are not the telephone's */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const address = this.addressOf(request);
    if (!address || address.action === 'media' || request.method !== 'POST') return false;
    if (address.isUnknown) {
      response.writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' }).end(noSuchFault(PLATFORM));
      return true;
    }
    const form = await readForm(request);
    const path = request.url ?? '';
    if (!form) respond(response, 413, '');
    else if (!this.isSigned(request, `${this.origin(request)}${path}`, form)) respond(response, 403, '');
    else if (address.action === 'voice/ended') respond(response, 200, this.afterStream(form.get('CallSid') ?? ''));
    else {
      // The media stream must be heard from its first message on.
      await this.prepare();
      const base = path.replace(/voice$/, '');
      const streamUrl = `${this.origin(request).replace(/^http:|^https:/, 'wss:')}${base}media`;
      respond(response, 200, connectStream(streamUrl, `${base}voice/ended`));
    }
    return true;
  }

  /** Takes the upgrade of a media stream; refuses all others. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const address = this.addressOf(request);
    const url = `${this.origin(request).replace(/^http:|^https:/, 'wss:')}${request.url ?? ''}`;
    if (address?.action !== 'media') return refuse(socket, '404 Not Found');
    if (address.isUnknown) return refuse(socket, '404 Not Found', noSuchFault(PLATFORM));
    if (!this.isSigned(request, url, new Map())) return refuse(socket, '403 Forbidden');
    const prepared = await this.prepare().catch(() => undefined);
    if (!prepared) return refuse(socket, '503 Service Unavailable');
    this.webSockets.handleUpgrade(request, socket, head, (webSocket) =>
      this.connect(webSocket, prepared, address.fault),
    );
  }

  close(): void {
    for (const webSocket of this.sessions.keys()) webSocket.terminate();
    this.webSockets.close();
    clearInterval(this.ticker);
  }

  private connect(webSocket: WebSocket, prepared: PreparedVoice, fault: TelephoneFaultName | undefined): void {
    const { now = Date.now, onAnswer, fault: _fault, ...options } = this.options;
    const session: TwilioAgentSession = new TwilioAgentSession(
      { send: (text) => webSocket.send(text), close: () => webSocket.close(1000) },
      {
        ...options,
        ...prepared,
        ...plantedBy(fault),
        today: now(),
        // The stamp is from the arrival of the last message; recognising the line took until now.
        onAnswer: (stamp) => onAnswer?.(session.callSid, { ...stamp, firstByteMs: performance.now() }),
      },
    );
    this.sessions.set(webSocket, session);
    // One timer for all calls.
    this.ticker ??= setInterval(() => this.tick(), TICK_MS);
    webSocket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) session.onMessage(performance.now(), data.toString('utf8'));
    });
    webSocket.on('error', () => webSocket.terminate());
    webSocket.on('close', () => this.end(webSocket, session));
  }

  private tick(): void {
    for (const session of this.sessions.values()) session.tick(performance.now());
  }

  private end(webSocket: WebSocket, session: TwilioAgentSession): void {
    this.sessions.delete(webSocket);
    if (session.transfers) this.transfers.add(session.callSid);
    // Calls whose end is never asked for must not add up.
    if (this.transfers.size > MAX_TRANSFERS) this.transfers.delete(this.transfers.values().next().value ?? '');
    if (this.sessions.size > 0) return;
    clearInterval(this.ticker);
    this.ticker = undefined;
  }

  private afterStream(callSid: string): string {
    return this.transfers.delete(callSid) ? dial(COLLEAGUE) : HANG_UP;
  }

  private addressOf(request: IncomingMessage): Address | undefined {
    const [, name, action] = ADDRESS.exec((request.url ?? '').split('?')[0] ?? '') ?? [];
    if (action === undefined) return undefined;
    const fault = name === undefined ? this.options.fault : isTelephoneFault(name) ? name : undefined;
    const isUnknown = name !== undefined && !isHealthy(name) && !isTelephoneFault(name);
    return { fault, isUnknown, action: action as Address['action'] };
  }

  private origin(request: IncomingMessage): string {
    return this.options.publicUrl ?? `http://${request.headers.host ?? 'localhost'}`;
  }

  private isSigned(request: IncomingMessage, url: string, form: ReadonlyMap<string, string>): boolean {
    const { authToken } = this.options;
    const signature = request.headers['x-twilio-signature'];
    if (authToken === undefined) return true;
    return isSignedByTwilio(authToken, url, form, typeof signature === 'string' ? signature : undefined);
  }
}

/** @returns undefined when the body is too large */
async function readForm(request: IncomingMessage): Promise<ReadonlyMap<string, string> | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) return undefined;
    chunks.push(chunk);
  }
  return new Map(new URLSearchParams(Buffer.concat(chunks).toString('utf8')));
}

function respond(response: ServerResponse, status: number, xml: string): void {
  response.writeHead(status, { 'Content-Type': 'text/xml; charset=utf-8', 'Content-Length': Buffer.byteLength(xml) });
  response.end(xml);
}
