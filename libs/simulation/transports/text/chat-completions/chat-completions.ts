import { randomUUID } from 'node:crypto';
import { Connections, type OutboundClient } from '../../../../outbound-http/index.js';
import { type JsonValue, parseArguments } from '../../../timeline/text.js';
import { DEFAULT_TOOL_RESULT } from '../../../conversation/tool-results.js';
import type { Clock } from '../../../time/clock.js';
import { CallFailure, failureOf } from '../../../timeline/failure.js';
import { EXCHANGE_LIMITS } from '../../../other-side/call-exchange.js';
import type { AgentEvent, Line, LineOptions, RequestRecord, Transport } from '../../../conversation/transport.js';
import { agentUrl } from '../../http/agent-url.js';
import { hangUpReason, HANG_UP_TOOLS } from '../hang-up.js';
import type { RawToolCall } from './completion.js';
import { requestCompletion } from './completion-request.js';
import { ANSWER_LIMITS, DEFAULT_ANSWER_TIMEOUT_MS } from './limits.js';
import { OtherSide, secretsOfUrl, withoutSecrets } from '../../../other-side/other-side.js';
import { type SentSecrets, sentSecrets } from '../../../other-side/secrets.js';
import { Pacer } from './pacer.js';

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
 * may be streamed or not. An agent that waits for its tools gets their results from `toolAnswers`, and goes on.
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
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

interface AnsweredToolCall extends RawToolCall {
  readonly parsed: ReturnType<typeof parseArguments>;
  /** Absent if the agent does not wait for it. */
  readonly result?: JsonValue;
}

/** Text stays text; any other result is sent as JSON. */
const contentOf = (result: JsonValue): string => (typeof result === 'string' ? result : JSON.stringify(result));

/** One per process, because all calls share its event loop. */
const pacer = new Pacer();

class ChatLine implements Line {
  readonly agentSpeaksFirst: boolean;
  private readonly clock: Clock;
  private readonly emit: (event: AgentEvent) => void;
  readonly identity: NonNullable<Line['identity']>;
  private readonly url: string;
  private readonly agent: OtherSide;
  private readonly headers: Readonly<Record<string, string>>;
  /** The conversation as JSON, sent with every request. */
  private readonly messages: string[] = [];
  private isOver = false;
  /** Kept open for the whole call, so that latencies do not include repeated connection set-up. */
  private readonly connections = new Connections();
  private historySize = 0;

  constructor(
    private readonly options: ChatCompletionsOptions,
    secrets: SentSecrets,
    private readonly lineOptions: LineOptions,
  ) {
    this.clock = lineOptions.clock;
    this.emit = (event) => {
      if (!this.isOver) lineOptions.emit(event);
    };
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
  }

  greet(): Promise<number> {
    return this.send();
  }

  async say(text: string) {
    this.remember({ role: 'user', content: text });
    const moment = await this.send();
    return { start: moment, end: moment };
  }

  /** Sends the conversation; the answer follows as events. @returns the clock time at which the request was sent */
  private async send(): Promise<number> {
    await this.clock.awaitExternal(this.connections.prepare());
    await this.clock.awaitExternal(pacer.turn());
    const sent = new Promise<number>((resolve) => {
      void this.clock.awaitExternal(this.answer(() => resolve(this.clock.now())));
    });
    return this.clock.awaitExternal(sent);
  }

  hangUp(): void {
    this.isOver = true;
    this.connections.close();
  }

  /**
   * One turn of the agent; never throws.
   * @param onSent called once the request is sent, or has failed
   */
  private async answer(onSent?: () => void): Promise<void> {
    try {
      for (let round = 0; ; round++) {
        if (round > ANSWER_LIMITS.toolRounds)
          throw new CallFailure('tool_loop', `${round} rounds of tool calls in one turn`);
        const goesOn = await this.round(onSent);
        if (!goesOn) break;
      }
      this.emit({ type: 'turn_end', at: this.clock.now() });
    } catch (error) {
      this.emit({ type: 'failure', at: this.clock.now(), failure: failureOf(error) });
    } finally {
      onSent?.();
    }
  }

  /** One request with its answer. @returns whether the agent waits for the result of a tool */
  private async round(onSent: () => void = () => undefined): Promise<boolean> {
    const { client, assistantId, model = assistantId, answerTimeoutMs } = this.options;
    const { onPhase } = this.lineOptions;
    const now = () => this.clock.now();
    const record: RequestRecord = { tokensAt: [] };
    this.emit({ type: 'request', at: now(), request: record });
    const { text, toolCalls, finishReason } = await requestCompletion(
      client,
      {
        url: this.url,
        headers: this.headers,
        body: `{"model":${JSON.stringify(model)},"messages":[${this.messages.join(',')}],"stream":true}`,
        timeoutMs: answerTimeoutMs ?? DEFAULT_ANSWER_TIMEOUT_MS,
        connections: this.connections,
        agent: this.agent,
        record,
        ...(onPhase && { onPhase }),
        onSent: () => {
          record.sentAt = now();
          onSent();
        },
      },
      {
        now,
        text: (part) => {
          const at = now();
          if (record.tokensAt.length < EXCHANGE_LIMITS.tokens) record.tokensAt.push(at);
          this.emit({ type: 'speech', at, text: part });
        },
      },
    );
    if (text !== '') this.emit({ type: 'speech_end', at: now() });
    // An agent that said something and does not end with `tool_calls` ran its tools itself.
    const isWaiting = toolCalls.length > 0 && (finishReason === 'tool_calls' || text.trim() === '');
    const calls = toolCalls.map((call) => this.answered(call, isWaiting));
    this.rememberAnswer(text, calls);
    for (const call of calls) this.reportToolCall(call);
    const hangUp = toolCalls.find(({ name }) => HANG_UP_TOOLS.has(name));
    if (hangUp) {
      this.emit({ type: 'hang_up', at: now(), reason: hangUpReason(parseArguments(hangUp.arguments)) });
      return false;
    }
    return isWaiting;
  }

  /** A hang-up has no result. */
  private answered(call: RawToolCall, isWaiting: boolean): AnsweredToolCall {
    const parsed = parseArguments(call.arguments);
    if (!isWaiting || HANG_UP_TOOLS.has(call.name)) return { ...call, parsed };
    return { ...call, parsed, result: this.lineOptions.toolAnswers?.(call.name, parsed) ?? DEFAULT_TOOL_RESULT };
  }

  private reportToolCall({ name, arguments: json, parsed, result, start, end }: AnsweredToolCall): void {
    this.emit({
      type: 'tool_call',
      at: start,
      endedAt: end,
      name,
      arguments: parsed,
      ...(parsed === null && { rawArguments: json }),
      ...(result !== undefined && { result }),
    });
  }

  private rememberAnswer(text: string, toolCalls: readonly AnsweredToolCall[]): void {
    if (toolCalls.length === 0) {
      if (text !== '') this.remember({ role: 'assistant', content: text });
      return;
    }
    this.remember({
      role: 'assistant',
      content: text === '' ? null : text,
      tool_calls: toolCalls.map(({ id, name, arguments: json }) => ({
        id,
        type: 'function',
        function: { name, arguments: json },
      })),
    });
    // The protocol requires a result of every tool call.
    for (const { id, result = DEFAULT_TOOL_RESULT } of toolCalls) {
      this.remember({ role: 'tool', tool_call_id: id, content: contentOf(result) });
    }
  }

  private remember(message: Message): void {
    const json = JSON.stringify(message);
    this.historySize += json.length;
    if (this.historySize > ANSWER_LIMITS.history) throw new CallFailure('answer_too_large', 'the whole conversation');
    this.messages.push(json);
  }
}
