import {
  type ConnectionPhase,
  type Connections,
  type OutboundClient,
  OutboundError,
  type OutboundStream,
  readBeginning,
} from '../../../../outbound-http/index.js';
import { retryAfterMs } from '../../../../text/index.js';
import { CallFailure } from '../../../timeline/failure.js';
import type { RequestRecord } from '../../../conversation/transport.js';
import { AnswerReader } from '../../../completions/answer-reader.js';
import { CompletionAssembler, type CompletionSink } from '../../../completions/completion.js';
import type { OtherSide } from '../../../other-side/other-side.js';
import { codeOfStatus, OUTBOUND_CODES, redirection, systemError } from '../../http/outbound-failures.js';

export interface CompletionRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
  readonly connections: Connections;
  /** Called when the request is about to be sent. */
  readonly onSent: () => void;
  readonly onPhase?: (phase: ConnectionPhase) => void;
  /** How failures describe the agent. */
  readonly agent: OtherSide;
  readonly record: RequestRecord;
}

interface ReadCompletion extends Pick<AnswerReader, 'idleSince' | 'isEndUnsaid'> {
  readonly completion: CompletionAssembler;
}

/**
 * Sends a chat-completions request and reads its answer, streamed or not, within the limits.
 * @throws CallFailure
 */
export async function requestCompletion(
  client: OutboundClient,
  request: CompletionRequest,
  sink: CompletionSink,
): Promise<ReadCompletion> {
  const { agent, record } = request;
  const begun = performance.now();
  const stream = await open(client, request);
  const { status } = stream;
  record.status = status;
  record.firstByteAt = sink.now();
  const assembler = new CompletionAssembler(sink);
  const reader = new AnswerReader(assembler, () => sink.now());
  try {
    if (status < 200 || status >= 300) throw await refusal(stream, request);
    await reader.read(stream);
    return { completion: assembler, idleSince: reader.idleSince, isEndUnsaid: reader.isEndUnsaid };
  } catch (cause) {
    if (cause instanceof Refusal) throw cause;
    record.said = agent.excerpt(reader.piece ?? reader.beginning);
    if (reader.piece !== undefined) record.unreadable = agent.excerpt(reader.piece);
    const said = reader.piece ?? reader.beginning;
    // A body without a length that is aborted by the timeout looks like a complete one.
    if (performance.now() - begun >= request.timeoutMs) {
      throw new CallFailure('timeout', agent.describe({ status, said }), { cause });
    }
    if (cause instanceof OutboundError) {
      const code = cause.reason === 'CONNECTION_FAILED' ? 'stream_cut' : OUTBOUND_CODES[cause.reason];
      throw new CallFailure(code, agent.describe({ status, said }), { cause });
    }
    if (!(cause instanceof CallFailure)) throw cause;
    throw new CallFailure(cause.failure.code, agent.describe({ what: cause.what, status, said }), { cause });
  } finally {
    if (assembler.finishReason !== undefined) record.finishReason = agent.excerpt(assembler.finishReason);
    stream.close();
  }
}

async function open(client: OutboundClient, request: CompletionRequest): Promise<OutboundStream> {
  const { url, headers, body, timeoutMs, connections, onSent, onPhase, agent } = request;
  try {
    return await client.open({
      url,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream, application/json',
        ...headers,
      },
      body,
      timeoutMs,
      connections,
      onSent,
      ...(onPhase && { onPhase }),
    });
  } catch (cause) {
    if (!(cause instanceof OutboundError)) throw cause;
    const what =
      cause.reason === 'HEADER_REFUSED'
        ? 'its API key or a header has characters that are not allowed'
        : systemError(cause);
    throw new CallFailure(OUTBOUND_CODES[cause.reason], agent.describe({ what }), { cause });
  }
}

/** A response with another status than 2xx. */
class Refusal extends CallFailure {}

async function refusal(stream: OutboundStream, { url, agent, record }: CompletionRequest): Promise<Refusal> {
  const { status, headers } = stream;
  const said = await readBeginning(stream);
  record.said = agent.excerpt(said);
  const code = codeOfStatus(status);
  const what = code === 'redirect' ? `HTTP ${status}${redirection(headers.location, url)}` : `HTTP ${status}`;
  return new Refusal(code, agent.describe({ what, status, said, retryAfterMs: retryAfterMs(headers['retry-after']) }));
}
