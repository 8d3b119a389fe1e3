import type { Line, LineOptions, RequestRecord, Transport } from '../../../conversation/transport.js';
import { parseArguments } from '../../../timeline/text.js';
import { PlatformApi } from '../../http/platform-api.js';
import type { AgentCall, AgentEndpoint } from '../../modules/endpoint.js';
import { ANSWER_LIMITS, tooManyMessages } from '../../../completions/limits.js';
import { HANG_UP_TOOLS, hangUpReason } from '../../text/hang-up.js';
import { RequestLine } from '../../text/request-line.js';
import { contentOf, Fields, listOf } from '../fields.js';
import { toolOf } from './messages.js';
import { callFields } from './options.js';
import { VAPI_RULES } from './refusals.js';

const ANSWER_MS = 60_000;

/** Turns of text with an assistant: one request each, which names the chat before it. */
export function vapiChatTransport(endpoint: AgentEndpoint, call: AgentCall): Transport {
  const api = PlatformApi.ofCall(VAPI_RULES, endpoint, call);
  return {
    name: endpoint.protocol,
    secrets: api.secrets,
    connect: (options) => new ChatLine(api, endpoint, call, options),
  };
}

/** What the assistant said or called, in order. */
type Output =
  | { readonly type: 'words'; readonly text: string }
  | { readonly type: 'tool'; readonly name: string; readonly json: string };

class ChatLine extends RequestLine {
  /** A chat begins with the caller's words: the first message of an assistant is of calls alone. */
  readonly agentSpeaksFirst = false;
  readonly identity: NonNullable<Line['identity']>;
  private previousChatId: string | undefined;

  constructor(
    private readonly api: PlatformApi,
    private readonly endpoint: AgentEndpoint,
    private readonly call: AgentCall,
    line: LineOptions,
  ) {
    super(line);
    this.identity = { protocol: endpoint.protocol, url: api.platform.address, callId: call.callId };
  }

  protected async turn(text: string | null, onSent: () => void): Promise<string | undefined> {
    const record = this.begin();
    const outputs = this.read(await this.ask(text ?? '', record, onSent));
    if (outputs.length > ANSWER_LIMITS.messages) throw tooManyMessages();
    for (const output of outputs) {
      if (output.type === 'tool') this.calledTool(output);
      else {
        this.spoke(output.text, record);
        this.emit({ type: 'speech_end', at: this.now });
      }
    }
    const hangUp = outputs.find((output) => output.type === 'tool' && HANG_UP_TOOLS.has(output.name));
    return hangUp?.type === 'tool' ? hangUpReason(parseArguments(hangUp.json)) : undefined;
  }

  private ask(text: string, record: RequestRecord, onSent: () => void): Promise<unknown> {
    const { previousChatId } = this;
    return this.api.json('/chat', {
      method: 'POST',
      timeoutMs: ANSWER_MS,
      headers: { 'x-call-id': this.call.callId },
      body: {
        ...callFields(this.call, this.endpoint.options),
        input: text,
        ...(previousChatId !== undefined && { previousChatId }),
      },
      ...this.recording(record, onSent),
    });
  }

  /** @throws CallFailure for what is not a chat */
  private read(value: unknown): Output[] {
    try {
      const chat = new Fields(value);
      this.previousChatId = chat.text('id', 256);
      return chat.list('output').flatMap(outputsOf);
    } catch (cause) {
      throw this.api.notUnderstood('its answer is not a chat with id and output', cause);
    }
  }
}

/** Results of tools, and the messages of others, are not the agent's. */
function outputsOf(message: Fields): Output[] {
  if (message.text('role') !== 'assistant') return [];
  const text = contentOf(message.raw('content'));
  const calls = listOf(message.raw('tool_calls')).map(toolOf);
  if (calls.includes(null)) throw new TypeError('a tool call has no name');
  return [
    ...(text.trim() === '' ? [] : [{ type: 'words' as const, text }]),
    ...calls.flatMap((call) => (call ? [{ type: 'tool' as const, ...call }] : [])),
  ];
}
