import { TextDecoder } from 'node:util';
import {
  type Connections,
  type OutboundClient,
  OutboundError,
  type OutboundFailure,
  type OutboundStream,
} from '../../outbound-http/index.js';
import { CallFailure, type FailureCode } from '../failure.js';
import { CompletionAssembler, type CompletionSink } from './completion.js';
import { EventStreamParser } from './event-stream.js';
import { ANSWER_LIMITS, CLOSING_GRACE_MS } from './limits.js';

export interface CompletionRequest {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly body: string;
  readonly timeoutMs: number;
  readonly connections: Connections;
  /** Called when the request is about to be sent. */
  readonly onSent: () => void;
}

const OUTBOUND_CODES: Readonly<Record<OutboundFailure, FailureCode>> = {
  URL_REFUSED: 'url_refused',
  ADDRESS_REFUSED: 'address_refused',
  NAME_NOT_FOUND: 'name_not_found',
  CONNECTION_FAILED: 'connection_failed',
  TLS_FAILED: 'tls_failed',
  BAD_RESPONSE: 'bad_response',
  HEADER_REFUSED: 'http_refused',
  TIMEOUT: 'timeout',
  // Only after hanging up, when events are ignored.
  ABORTED: 'internal',
};

/**
 * Sends a chat-completions request and reads its answer, streamed or not, within the limits.
 * @throws CallFailure
 */
export async function requestCompletion(
  client: OutboundClient,
  request: CompletionRequest,
  sink: CompletionSink,
): Promise<CompletionAssembler> {
  const begun = performance.now();
  const stream = await open(client, request);
  try {
    refuseStatus(stream.status);
    const assembler = new CompletionAssembler(sink);
    await readAnswer(stream, assembler);
    return assembler;
  } catch (error) {
    // A body without a length that is aborted by the timeout looks like a complete one.
    if (performance.now() - begun >= request.timeoutMs) throw new CallFailure('timeout', undefined, { cause: error });
    if (!(error instanceof OutboundError)) throw error;
    const code = error.reason === 'CONNECTION_FAILED' ? 'stream_cut' : OUTBOUND_CODES[error.reason];
    throw new CallFailure(code, undefined, { cause: error });
  } finally {
    stream.close();
  }
}

async function open(client: OutboundClient, request: CompletionRequest): Promise<OutboundStream> {
  const { url, apiKey, body, timeoutMs, connections, onSent } = request;
  try {
    return await client.open({
      url,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream, application/json',
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      body,
      timeoutMs,
      connections,
      onSent,
    });
  } catch (cause) {
    if (!(cause instanceof OutboundError)) throw cause;
    const detail = cause.reason === 'HEADER_REFUSED' ? 'its API key is not a valid header value' : systemCode(cause);
    throw new CallFailure(OUTBOUND_CODES[cause.reason], detail, { cause });
  }
}

/** Temporary statuses; 5xx statuses other than the agent's own count as temporary gateway errors. */
const TEMPORARY = new Set([408, 409, 425]);
/** Statuses of a server's own failure (RFC 9110 and related); gateways do not send them for a server behind them. */
const AGENT_ERRORS = new Set([500, 501, 505, 506, 507, 508, 510]);

function refuseStatus(status: number): void {
  if (status >= 200 && status < 300) return;
  throw new CallFailure(codeOfStatus(status), `HTTP ${status}`);
}

function codeOfStatus(status: number): FailureCode {
  if (status >= 300 && status < 400) return 'redirect';
  if (status === 429) return 'rate_limited';
  if (AGENT_ERRORS.has(status)) return 'agent_status';
  return status >= 500 || TEMPORARY.has(status) ? 'http_status' : 'http_refused';
}

async function readAnswer({ headers, body, close }: OutboundStream, assembler: CompletionAssembler): Promise<void> {
  const decode = decoder();
  const events = new EventStreamParser();
  let kind = kindOf(headers['content-type']);
  let bytes = 0;
  let text = '';
  let grace: NodeJS.Timeout | undefined;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > ANSWER_LIMITS.bytes) throw new CallFailure('answer_too_large');
      const piece = decode(chunk);
      text = kind === 'event-stream' ? piece : text + piece;
      if (kind === undefined) {
        // Trimmed, so that endless white space is not scanned again with every chunk.
        text = text.trimStart();
        kind = detectKind(text);
      }
      if (kind === 'event-stream') {
        if (takeEvents(events.push(text), assembler)) return;
        text = '';
      } else if (text.length > ANSWER_LIMITS.event) throw new CallFailure('answer_too_large');
      // The answer is complete; do not wait long for the formal end of the stream.
      if (assembler.finishReason !== undefined) grace ??= setTimeout(close, CLOSING_GRACE_MS);
    }
  } catch (error) {
    // Our own close after the grace time looks like a broken connection.
    if (grace === undefined || !(error instanceof OutboundError)) throw error;
  } finally {
    clearTimeout(grace);
  }
  if (kind === 'json') assembler.whole(text);
  else if (kind === undefined) throw new CallFailure('invalid_answer', text === '' ? 'it is empty' : 'it is cut short');
  else if (assembler.finishReason === undefined) throw new CallFailure('stream_cut');
}

/** @returns whether the stream has ended with `[DONE]` */
function takeEvents(events: readonly string[], assembler: CompletionAssembler): boolean {
  for (const event of events) {
    if (event.trim() === '[DONE]') {
      assembler.finishReason ??= 'stop';
      return true;
    }
    assembler.chunk(event);
  }
  return false;
}

type Kind = 'event-stream' | 'json';

function kindOf(contentType: string | undefined): Kind | undefined {
  if (contentType === undefined) return undefined;
  if (/^text\/event-stream\b/i.test(contentType)) return 'event-stream';
  return /^application\/(.+\+)?json\b/i.test(contentType) ? 'json' : undefined;
}

/** Detects the kind when the content type is missing or different. @throws CallFailure when it is neither */
function detectKind(beginning: string): Kind | undefined {
  if (beginning.startsWith('{')) return 'json';
  if (/^(data|event|id|retry)?:/.test(beginning)) return 'event-stream';
  if (beginning.length >= 'event:'.length) throw new CallFailure('invalid_answer', 'it is neither a stream nor JSON');
  return undefined;
}

/** Decodes UTF-8 chunks, which may end in the middle of a character. @throws CallFailure for invalid UTF-8 */
function decoder(): (chunk: Buffer) => string {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  return (chunk) => {
    try {
      return utf8.decode(chunk, { stream: true });
    } catch (cause) {
      throw new CallFailure('invalid_answer', 'it is not UTF-8', { cause });
    }
  };
}

/** The error code of the system or of TLS, such as `ECONNREFUSED`. */
function systemCode({ cause }: OutboundError): string | undefined {
  const { code } = (cause ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : undefined;
}
