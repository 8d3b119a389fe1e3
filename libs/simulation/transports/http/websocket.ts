import type { ClientRequest, IncomingMessage } from 'node:http';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { ConnectionPhase } from '../../../outbound-http/index.js';
import { CallFailure, type FailureCode, type FailureDetail } from '../../timeline/failure.js';
import type { OtherSide } from '../../other-side/other-side.js';
import { READ_LIMITS } from '../../other-side/read-limits.js';
import { SEND_LIMITS } from '../../other-side/send-limits.js';
import { type CountedFrames, FrameCounter } from './frame-counter.js';
import { codeOfStatus, redirection } from './outbound-failures.js';
import { type ReadingAccount, ReadingTime } from './reading-time.js';

/** Plain data, so that it can be passed to a thread. */
export interface SocketTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Those that the host may be connected to, from `OutboundClient.addressesOf`; no other look-up is made. */
  readonly addresses: readonly string[];
}

/** Why an open connection ended without a close. */
export type BrokenCode = Extract<FailureCode, 'connection_lost' | 'answer_too_large'>;

export interface SocketHandlers {
  readonly onPhase?: (phase: ConnectionPhase) => void;
  readonly onOpen: () => void;
  /** Text, or the bytes of a binary message. */
  readonly onMessage: (data: string | Uint8Array) => void;
  /** Frames that have arrived; their messages follow by `onMessage`, one in each turn of the event loop. */
  readonly onFrames?: (frames: CountedFrames) => void;
  /** Nothing was read, because too much had arrived at once. Times are on the clock of `performance`. */
  readonly onPaused?: (from: number, to: number) => void;
  /** After `onOpen`. 1006: the connection broke off (RFC 6455, section 7.1.5). */
  readonly onClose: (code: number, reason: string) => void;
  /**
   * After `onOpen`: the connection failed, or was ended because the agent broke the protocol or a limit. Nothing is called
   * afterwards.
   */
  readonly onBroken?: (what: string, code: BrokenCode) => void;
  /** There was no connection. Nothing is called afterwards. */
  readonly onFailure: (failure: CallFailure) => void;
}

/** What may wait for an agent that does not read: a quarter of an hour of a call's sound, or 10,000 marks with long names. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
/** What is shown of a response that refuses the upgrade. */
const MAX_SAID_BYTES = 4_096;
const MAX_SAID_MS = 1_000;
/** How long the other side may take to confirm a close, in milliseconds. */
const CLOSING_MS = 2_000;
/** Of this thread. */
const READING = new ReadingTime();
const NOT_READ = 'it does not read what is sent to it';
const TOO_LARGE = `one message is larger than ${READ_LIMITS.message.bytes / 1024 / 1024} MiB`;

/**
 * A WebSocket connection to an untrusted agent: no compression, no redirects, limited messages, checked addresses. What it
 * sends at once is read in turns, so that the other connections of the thread have theirs, and floods are read in a share of
 * the thread's time.
 */
export class AgentSocket {
  private readonly socket: WebSocket;
  private phase: 'connecting' | 'securing' | 'upgrading' | 'open' | 'over' = 'connecting';
  private readonly counter = new FrameCounter();
  /** Frames that have arrived in this turn of the event loop. */
  private framesInTurn = 0;
  private pausedAt: number | undefined;

  /** @param agent how failures describe it @param reading what it uses of the time of the thread */
  constructor(
    private readonly target: SocketTarget,
    private readonly agent: OtherSide,
    timeoutMs: number,
    private readonly handlers: SocketHandlers,
    private readonly reading: ReadingAccount = READING.account(),
  ) {
    this.socket = new WebSocket(target.url, {
      headers: { ...target.headers },
      lookup: pinned(target.addresses),
      handshakeTimeout: timeoutMs,
      maxPayload: READ_LIMITS.message.bytes,
      allowSynchronousEvents: false,
      perMessageDeflate: false,
      followRedirects: false,
      finishRequest: (request: ClientRequest) => this.request(request),
    });
    let bytes: Socket | undefined;
    this.socket.on('upgrade', ({ socket }) => (bytes = socket));
    this.socket.on('open', () => {
      // Not earlier: `ws` would miss what arrived with the response.
      bytes?.on('data', (some: Buffer) => this.timed(() => this.arrived(some)));
      this.opened();
    });
    this.socket.on('message', (data: Buffer, isBinary) => this.timed(() => this.received(data, isBinary)));
    this.socket.on('close', (code, reason) => this.closed(code, reason.toString('utf8')));
    this.socket.on('error', (error) => this.failed(error));
    this.socket.on('unexpected-response', (request, response) => void this.refused(request, response));
  }

  get isOpen(): boolean {
    return this.phase === 'open';
  }

  send(data: string | Uint8Array): void {
    if (this.socket.readyState !== WebSocket.OPEN) return;
    if (this.socket.bufferedAmount <= MAX_UNREAD_BYTES) return this.socket.send(data);
    // Later, since a call must not end in the middle of what it does.
    setImmediate(() => this.broken(NOT_READ));
  }

  /**
   * Ends the connection if the agent has closed it: `onClose` follows with its code, though the agent may never end the TCP
   * connection.
   */
  poll(): void {
    if (this.phase === 'open' && this.socket.readyState === WebSocket.CLOSING) this.socket.terminate();
  }

  /** Closes the connection at once; nothing is called afterwards. */
  drop(): void {
    this.phase = 'over';
    this.socket.terminate();
  }

  /** Closes the connection in the orderly way; nothing is called afterwards. */
  close(): void {
    this.phase = 'over';
    if (this.socket.readyState === WebSocket.CONNECTING) return this.socket.terminate();
    this.socket.close(1000);
    setTimeout(() => this.socket.terminate(), CLOSING_MS).unref();
  }

  private request(request: ClientRequest): void {
    const isSecure = /^wss:/i.test(this.target.url);
    request.once('socket', (socket) => {
      this.handlers.onPhase?.('resolved');
      socket.once('connect', () => {
        this.phase = isSecure ? 'securing' : 'upgrading';
        this.handlers.onPhase?.('connected');
      });
      socket.once('secureConnect', () => {
        this.phase = 'upgrading';
        this.handlers.onPhase?.('secured');
      });
    });
    request.end();
  }

  private opened(): void {
    if (this.phase === 'over') return;
    this.phase = 'open';
    this.handlers.onOpen();
  }

  private arrived(bytes: Buffer): void {
    if (this.phase === 'over') return;
    const frames = this.counter.push(bytes);
    if (this.framesInTurn === 0) setImmediate(() => (this.framesInTurn = 0));
    this.framesInTurn += frames.messages + frames.control + frames.continuation;
    if (this.framesInTurn > SEND_LIMITS.turn.frames) this.pause();
    this.handlers.onFrames?.(frames);
    if (frames.tooLarge !== undefined) this.broken(frames.tooLarge, 'answer_too_large');
  }

  /** Does what the agent caused, and counts how long it takes. */
  private timed(work: () => void): void {
    const from = performance.now();
    work();
    this.reading.use(performance.now() - from);
    if (this.reading.isOverdrawn && this.phase === 'open') this.pause();
  }

  private pause(): void {
    if (this.pausedAt !== undefined) return;
    const from = performance.now();
    this.pausedAt = from;
    this.socket.pause();
    const goOn = () => {
      this.pausedAt = undefined;
      this.socket.resume();
      if (this.phase === 'open') this.handlers.onPaused?.(from, performance.now());
    };
    setTimeout(() => {
      if (this.reading.isOverdrawn && this.phase === 'open') this.reading.wait(goOn);
      else goOn();
    }, SEND_LIMITS.turn.pauseMs);
  }

  private received(data: Buffer, isBinary: boolean): void {
    if (this.phase !== 'open') return;
    this.handlers.onMessage(isBinary ? data : data.toString('utf8'));
  }

  private closed(code: number, reason: string): void {
    if (this.phase !== 'open') return;
    this.phase = 'over';
    this.handlers.onClose(code, this.agent.excerpt(reason));
  }

  private failed(error: Error & { readonly code?: unknown }): void {
    if (this.phase === 'over') return;
    const code = typeof error.code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(error.code) ? error.code : undefined;
    if (this.phase === 'open') {
      if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') return this.broken(TOO_LARGE, 'answer_too_large');
      return this.broken(code === undefined ? error.message : `${error.message} (${code})`);
    }
    const isTimeout = error.message === 'Opening handshake has timed out';
    if (isTimeout) return this.fail('timeout', { what: 'the WebSocket handshake' });
    // What is not an error of the system is one of the handshake.
    const isHandshake = this.phase === 'upgrading' && (code === undefined || code.startsWith('HPE_'));
    const byPhase: FailureCode = this.phase === 'securing' ? 'tls_failed' : 'connection_failed';
    this.fail(isHandshake ? 'bad_response' : byPhase, { what: isHandshake ? error.message : code });
  }

  private broken(what: string, code: BrokenCode = 'connection_lost'): void {
    if (this.phase !== 'open') return;
    this.phase = 'over';
    this.socket.terminate();
    this.handlers.onBroken?.(what, code);
  }

  /** The upgrade got another response than 101. */
  private async refused(request: ClientRequest, response: IncomingMessage): Promise<void> {
    const { statusCode: status = 0, headers } = response;
    const said = await beginningOf(response);
    const code = status === 101 || (status >= 200 && status < 300) ? 'bad_response' : codeOfStatus(status);
    const to = code === 'redirect' ? redirection(headers.location, this.target.url.replace(/^ws/i, 'http')) : '';
    this.fail(code, { what: `HTTP ${status}${to} in place of a WebSocket upgrade`, status, said });
    request.destroy();
  }

  private fail(code: FailureCode, detail: Pick<FailureDetail, 'what' | 'status' | 'said'>): void {
    if (this.phase === 'over') return;
    this.phase = 'over';
    this.socket.terminate();
    this.handlers.onFailure(new CallFailure(code, this.agent.describe(detail)));
  }
}

async function beginningOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, MAX_SAID_MS);
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= MAX_SAID_BYTES) resolve();
    });
    for (const event of ['end', 'error', 'close']) response.once(event, resolve);
    response.once('close', () => clearTimeout(timer));
  });
  return Buffer.concat(chunks).subarray(0, MAX_SAID_BYTES).toString('utf8');
}

/** A look-up that knows nothing but the given addresses: what was checked is what is connected to. */
const pinned =
  (addresses: readonly string[]): LookupFunction =>
  (hostname, options, callback) => {
    const found = addresses.map((address) => ({ address, family: isIP(address) }));
    const [first] = found;
    if (!first) return callback(Object.assign(new Error(`No address of ${hostname}`), { code: 'ENOTFOUND' }), '', 0);
    if (options.all) callback(null, found);
    else callback(null, first.address, first.family);
  };
