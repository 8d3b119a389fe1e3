import { randomUUID } from 'node:crypto';
import type { HistoryLine } from '../../../../evaluation-definition/index.js';
import type { OutboundClient } from '../../../../outbound-http/index.js';
import { type JsonValue, parseArguments } from '../../../timeline/text.js';
import {
  DEFAULT_TOOL_RESULT,
  type ToolAnswer,
  type ToolAnswers,
  toolAnswers,
} from '../../../conversation/tool-results.js';
import { CallFailure } from '../../../timeline/failure.js';
import type { Line, LineOptions, Transport } from '../../../conversation/transport.js';
import { agentUrl } from '../../http/agent-url.js';
import { hangUpReason, HANG_UP_TOOLS } from '../hang-up.js';
import { History } from '../history.js';
import { RequestLine } from '../request-line.js';
import { callsTools } from '../../../completions/answer-reader.js';
import type { CompletionAssembler } from '../../../completions/completion.js';
import type { RawToolCall } from '../../../completions/tool-call-parts.js';
import { requestCompletion } from './completion-request.js';
import { ANSWER_LIMITS, DEFAULT_ANSWER_TIMEOUT_MS } from '../../../completions/limits.js';
import { OtherSide, secretsOfUrl, withoutSecrets } from '../../../other-side/other-side.js';
import { type SentSecrets, sentSecrets } from '../../../other-side/secrets.js';

export interface ChatCompletionsOptions {
  /** Sends the requests; decides which addresses may be reached. */
  readonly client: OutboundClient;
  /** Full URL with the optional placeholders `{assistantId}`, `{phoneNumber}` and `{callId}`. */
  readonly url: string;
  /** What results show instead of the URL, such as the name of its setting; by default the URL without secrets. */
  readonly shownUrl?: string;
  /** UUID that the agent receives as `X-Call-Id`; by default a new one for each call. */
  readonly callId?: string;
  /** Also the `model` of each request, unless `model` is given. */
  readonly assistantId: string;
  readonly phoneNumber?: string;
  /** Sent as `Authorization: Bearer`, unless `headers` has an `authorization`. */
  readonly apiKey?: string;
  /** Further headers of every request, with lower-case names. All their values are secrets. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly model?: string;
  /** The greeting is requested with an empty list of messages. */
  readonly agentSpeaksFirst?: boolean;
  /** For one complete answer; 60 s by default. */
  readonly answerTimeoutMs?: number;
}

/**
 * An agent behind an OpenAI-compatible chat-completions address. The whole conversation is sent each turn; the answer
 * may be streamed or not. An agent that waits for its tools gets their results, and goes on.
 */
export function chatCompletions(options: ChatCompletionsOptions): Transport {
  const { apiKey, headers = {}, url } = options;
  const secrets = sentSecrets([apiKey], headers, secretsOfUrl(url));
  return { name: PROTOCOL, secrets, connect: (lineOptions) => new ChatLine(options, secrets, lineOptions) };
}

const PROTOCOL = 'chat-completions';

type Message =
  | { readonly role: 'user' | 'assistant'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string | null; readonly tool_calls: readonly object[] }
  | { readonly role: 'assistant'; readonly content: string | null; readonly function_call: object }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string }
  | { readonly role: 'function'; readonly name: string; readonly content: string };

interface AnsweredToolCall extends RawToolCall {
  /** Absent if the agent does not wait for it. */
  readonly answer?: ToolAnswer;
}

/** What the agent learns with the caller's next words: the protocol requires a result. */
const NEVER_ANSWERED: JsonValue = { error: 'The tool did not answer' };
const sentResult = ({ answer }: AnsweredToolCall): JsonValue =>
  answer ? (answer.result ?? NEVER_ANSWERED) : DEFAULT_TOOL_RESULT;

/** Text stays text; any other result is sent as JSON. */
const contentOf = (result: JsonValue): string => (typeof result === 'string' ? result : JSON.stringify(result));

/** A line of the evaluation's history, as if the agent had said or done it. */
function givenMessages(given: HistoryLine, index: number): Message[] {
  if ('caller' in given) return [{ role: 'user', content: given.caller }];
  if ('agent' in given) return [{ role: 'assistant', content: given.agent }];
  const { tool: name, arguments: args = {}, result = DEFAULT_TOOL_RESULT } = given;
  // Models of Mistral take ids of nine letters and digits only.
  const id = `before${String(index).padStart(3, '0')}`;
  const call = { id, type: 'function', function: { name, arguments: JSON.stringify(args) } };
  return [
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: id, content: contentOf(result as JsonValue) },
  ];
}

const noResult = ({ toolCalls, finishReason }: CompletionAssembler): string =>
  `An answer said something, called ${toolCalls.at(-1)?.name} and ended with ${finishReason ?? 'no finish_reason'}: it got no ` +
  'result, because only an answer that ends with tool_calls, or that says nothing, waits for one';

class ChatLine extends RequestLine {
  readonly agentSpeaksFirst: boolean;
  readonly identity: NonNullable<Line['identity']>;
  private readonly url: string;
  private readonly agent: OtherSide;
  private readonly headers: Readonly<Record<string, string>>;
  private readonly history = new History();
  private readonly answers: ToolAnswers;
  private readonly closing = new AbortController();
  /** Whether the agent has been left without the result of a tool: it cannot speak before it gets one, so only once. */
  private wasUnanswered = false;

  constructor(
    private readonly options: ChatCompletionsOptions,
    secrets: SentSecrets,
    line: LineOptions,
  ) {
    super(line);
    this.answers = toolAnswers(line.toolResults ?? []);
    const { callId = randomUUID(), assistantId, phoneNumber = '', apiKey, headers = {} } = options;
    const values = { assistantId, phoneNumber, callId };
    this.url = agentUrl(options.url, values);
    const shownUrl = options.shownUrl ?? agentUrl(withoutSecrets(options.url), values);
    this.agent = new OtherSide(shownUrl, secrets.all);
    this.identity = { protocol: PROTOCOL, url: shownUrl, callId };
    this.headers = {
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      ...headers,
      'x-call-id': callId,
    };
    this.agentSpeaksFirst = options.agentSpeaksFirst ?? false;
    for (const message of (line.history ?? []).flatMap(givenMessages)) this.remember(message);
  }

  override hangUp(): void {
    this.closing.abort();
    super.hangUp();
  }

  /** Ends after the last of the agent's tools. */
  protected async turn(text: string | null, onSent: () => void): Promise<string | undefined> {
    if (text !== null) this.remember({ role: 'user', content: text });
    for (let round = 0; round <= ANSWER_LIMITS.toolRounds; round++) {
      const { isWaiting, hangUp } = await this.round(onSent);
      if (hangUp) return hangUpReason(parseArguments(hangUp.arguments));
      if (!isWaiting) return undefined;
    }
    throw new CallFailure('tool_loop', `${ANSWER_LIMITS.toolRounds + 1} rounds of tool calls in one turn`);
  }

  /** One request with its answer. `isWaiting`: the agent waits for the result of a tool. */
  private async round(onSent: () => void): Promise<{ isWaiting: boolean; hangUp: RawToolCall | undefined }> {
    const { client, assistantId, model = assistantId, answerTimeoutMs } = this.options;
    const { onPhase } = this.line;
    const record = this.begin();
    const { completion, idleSince, isEndUnsaid } = await requestCompletion(
      client,
      {
        url: this.url,
        headers: this.headers,
        body: `{"model":${JSON.stringify(model)},"messages":${this.history.json},"stream":true}`,
        timeoutMs: answerTimeoutMs ?? DEFAULT_ANSWER_TIMEOUT_MS,
        agent: this.agent,
        record,
        connections: this.connections,
        ...(onPhase && { onPhase }),
        onSent: this.recording(record, onSent).onSent,
      },
      {
        now: () => this.now,
        text: (part, isApart) => {
          if (isApart) this.emit({ type: 'speech_split', at: this.now });
          this.spoke(part, record);
        },
        toolStarts: () => this.emit({ type: 'tool_start', at: this.now }),
      },
    );
    const { text, toolCalls, finishReason } = completion;
    if (idleSince !== undefined) this.emit({ type: 'idle', since: idleSince, at: this.now });
    this.warnOf(completion, isEndUnsaid);
    if (text !== '') this.emit({ type: 'speech_end', at: this.now });
    // An agent that said something and does not end with `tool_calls` ran its tools itself.
    const isWaiting = toolCalls.length > 0 && (callsTools(finishReason) || text.trim() === '');
    if (completion.endsWithCall && !isWaiting) this.warn('no_tool_result', noResult(completion));
    const calls = toolCalls.map((call) => this.answered(call, isWaiting));
    this.rememberAnswer(text, calls);
    for (const { arguments: json, start, end, answer, ...call } of calls) {
      this.calledTool({ ...call, json, result: answer?.result, delayMs: answer?.delayMs ?? 0 }, start, end);
    }
    const isAnswered = await this.awaitTools(calls.flatMap(({ answer }) => answer ?? []));
    const hangUp = toolCalls.find(({ name }) => HANG_UP_TOOLS.has(name));
    return { isWaiting: isWaiting && isAnswered, hangUp };
  }

  /** @returns whether the agent gets the results now. @throws CallFailure */
  private async awaitTools(answers: readonly ToolAnswer[]): Promise<boolean> {
    const missing = answers.find(({ failure }) => failure)?.failure;
    if (missing) throw new CallFailure(missing);
    const delayMs = Math.max(0, ...answers.map((answer) => answer.delayMs));
    if (delayMs > 0) await this.line.clock.sleep(delayMs, this.closing.signal);
    if (this.wasUnanswered || answers.every(({ result }) => result !== undefined)) return true;
    this.wasUnanswered = true;
    return false;
  }

  private warnOf({ text }: CompletionAssembler, isEndUnsaid: boolean): void {
    if (isEndUnsaid) this.warn('end_unsaid', 'An answer ended without finish_reason and [DONE]: it may not be whole');
    const tag = /<\/?think(ing)?>/i.exec(text)?.[0];
    if (tag !== undefined) this.warn('thinking_said', `An answer contains ${tag}, which a voice would read aloud`);
  }

  /** A hang-up has no result. */
  private answered(call: RawToolCall, isWaiting: boolean): AnsweredToolCall {
    if (!isWaiting || HANG_UP_TOOLS.has(call.name)) return call;
    return { ...call, answer: this.answers(call.name, parseArguments(call.arguments)) };
  }

  private rememberAnswer(text: string, toolCalls: readonly AnsweredToolCall[]): void {
    if (toolCalls.length === 0) {
      if (text !== '') this.remember({ role: 'assistant', content: text });
      return;
    }
    const content = text === '' ? null : text;
    const older = toolCalls.find(({ isFunctionCall }) => isFunctionCall);
    if (older && toolCalls.length === 1) {
      const { name, arguments: json } = older;
      this.remember({ role: 'assistant', content, function_call: { name, arguments: json } });
      return this.remember({ role: 'function', name, content: contentOf(sentResult(older)) });
    }
    this.remember({
      ...{ role: 'assistant', content },
      tool_calls: toolCalls.map(({ id, name, arguments: json }) => ({
        id,
        type: 'function',
        function: { name, arguments: json },
      })),
    });
    // The protocol requires a result of every tool call.
    for (const call of toolCalls) {
      this.remember({ role: 'tool', tool_call_id: call.id, content: contentOf(sentResult(call)) });
    }
  }

  private remember(message: Message): void {
    this.history.add(message);
  }
}
