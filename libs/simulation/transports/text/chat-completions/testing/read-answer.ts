import { OutboundError } from '../../../../../outbound-http/index.js';
import { AnswerReader } from '../../../../completions/answer-reader.js';
import { CompletionAssembler } from '../../../../completions/completion.js';

export interface ReadAnswer {
  readonly words: string;
  /** Name and arguments. */
  readonly calls: readonly (readonly [string, string])[];
  /** Words, joined, and the beginnings of calls, in the order in which they came. */
  readonly order: readonly string[];
  readonly finishReason: string | undefined;
  readonly isEndUnsaid: boolean;
}

interface Sent {
  /** By default those of a body whose end is known. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the connection breaks after the pieces. */
  readonly breaks?: boolean;
}

/** Reads the body of an answer that arrives in these pieces. @throws CallFailure, OutboundError */
export async function readAnswer(pieces: readonly (string | Uint8Array)[], sent: Sent = {}): Promise<ReadAnswer> {
  const { headers = { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked' }, breaks = false } = sent;
  const order: string[] = [];
  let isWord = false;
  const assembler = new CompletionAssembler({
    now: () => 0,
    text: (part) => {
      if (isWord) order[order.length - 1] += part;
      else order.push(part);
      isWord = true;
    },
    toolStarts: () => {
      order.push('(call)');
      isWord = false;
    },
  });
  const reader = new AnswerReader(assembler, () => 0);
  async function* body() {
    for (const piece of pieces) yield Buffer.from(piece);
    if (breaks) throw new OutboundError('CONNECTION_FAILED');
  }
  await reader.read({ status: 200, headers, body: body(), close: () => undefined });
  const { text: words, toolCalls, finishReason } = assembler;
  const calls = toolCalls.map(({ name, arguments: json }) => [name, json] as const);
  return { words, calls, order, finishReason, isEndUnsaid: reader.isEndUnsaid };
}
