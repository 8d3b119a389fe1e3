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
  /** As of an outbound request. */
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
  // Only whoever hung up gives a request up, and that one listens no more.
  ABORTED: 'internal',
};

/**
 * Sends a chat-completions request and reads its answer, streamed or not, within bounds.
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
    // A body without a length that is given up for its time looks as if it had ended by itself.
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
    const detail = cause.reason === 'HEADER_REFUSED' ? 'its key cannot be sent' : systemCode(cause);
    throw new CallFailure(OUTBOUND_CODES[cause.reason], detail, { cause });
  }
}

/** Statuses that say "later"; so do those of gateways, which are all of 5xx that are not the agent's own. */
const PASSING = new Set([408, 409, 425, 429]);
/** What a server says of its own failing (RFC 9110 and its kin): no gateway makes these up for a server behind it. */
const OWN = new Set([500, 501, 505, 506, 507, 508, 510]);

function refuseStatus(status: number): void {
  if (status >= 200 && status < 300) return;
  throw new CallFailure(codeOfStatus(status), `HTTP ${status}`);
}

function codeOfStatus(status: number): FailureCode {
  if (status >= 300 && status < 400) return 'redirect';
  if (OWN.has(status)) return 'agent_status';
  return status >= 500 || PASSING.has(status) ? 'http_status' : 'http_refused';
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
        // White space that never ends would be passed over again with each piece.
        text = text.trimStart();
        kind = kindByBeginning(text);
      }
      if (kind === 'event-stream') {
        if (takeEvents(events.push(text), assembler)) return;
        text = '';
      } else if (text.length > ANSWER_LIMITS.event) throw new CallFailure('answer_too_large');
      // The answer is complete; what is left to come is its formal end.
      if (assembler.finishReason !== undefined) grace ??= setTimeout(close, CLOSING_GRACE_MS);
    }
  } catch (error) {
    // Closing it ourselves looks like a broken connection.
    if (grace === undefined || !(error instanceof OutboundError)) throw error;
  } finally {
    clearTimeout(grace);
  }
  if (kind === 'json') assembler.whole(text);
  else if (kind === undefined) throw new CallFailure('invalid_answer', text === '' ? 'it is empty' : 'it is cut short');
  else if (assembler.finishReason === undefined) throw new CallFailure('stream_cut');
}

/** Whether the stream said that it is over. */
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

/** For servers that name no or another type. @throws CallFailure when it can be neither */
function kindByBeginning(beginning: string): Kind | undefined {
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

/** What the system, or TLS, calls the fault, such as `ECONNREFUSED`: it tells a stopped agent from a firewall. */
function systemCode({ cause }: OutboundError): string | undefined {
  const { code } = (cause ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : undefined;
}
