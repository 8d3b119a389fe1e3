import { Connections } from '../../../../outbound-http/index.js';
import type { AgentEvent, Line, LineOptions, RequestRecord, Transport } from '../../../conversation/transport.js';
import { type Failure, failureOf } from '../../../timeline/failure.js';
import { parseArguments } from '../../../timeline/text.js';
import { PlatformApi } from '../../http/platform-api.js';
import type { AgentCall, AgentEndpoint } from '../../modules/endpoint.js';
import { HANG_UP_TOOLS, hangUpReason } from '../../text/hang-up.js';
import { Fields } from '../fields.js';
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

class ChatLine implements Line {
  /** A chat begins with the caller's words: the first message of an assistant is of calls alone. */
  readonly agentSpeaksFirst = false;
  readonly identity: NonNullable<Line['identity']>;
  private readonly connections = new Connections();
  private previousChatId: string | undefined;
  private isOver = false;

  constructor(
    private readonly api: PlatformApi,
    private readonly endpoint: AgentEndpoint,
    private readonly call: AgentCall,
    private readonly line: LineOptions,
  ) {
    this.identity = { protocol: endpoint.protocol, url: api.platform.address, callId: call.callId };
  }

  async say(text: string) {
    await this.line.clock.awaitExternal(this.connections.prepare());
    const sent = new Promise<number>((resolve) => {
      void this.line.clock.awaitExternal(this.turn(text, () => resolve(this.now)));
    });
    const at = await this.line.clock.awaitExternal(sent);
    return { start: at, end: at };
  }

  hangUp(): void {
    this.isOver = true;
    this.connections.close();
  }

  private get now(): number {
    return this.line.clock.now();
  }

  private emit(event: AgentEvent): void {
    if (!this.isOver) this.line.emit(event);
  }

  /** One turn of the assistant; never throws. @param onSent called once the request is sent, or has failed */
  private async turn(text: string, onSent: () => void): Promise<void> {
    const record: RequestRecord = { tokensAt: [] };
    this.emit({ type: 'request', at: this.now, request: record });
    try {
      const chat = await this.ask(text, record, onSent);
      this.report(chat, record);
    } catch (error) {
      this.fail(failureOf(error));
    } finally {
      onSent();
    }
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
      connections: this.connections,
      onStep: this.line.onPhase as ((step: string) => void) | undefined,
      onSent: () => {
        record.sentAt = this.now;
        onSent();
      },
      onAnswer: (status, said) => {
        Object.assign(record, { status, firstByteAt: this.now, ...(status >= 300 && { said }) });
      },
    });
  }

  /** @throws CallFailure for what is not a chat */
  private report(chat: unknown, record: RequestRecord): void {
    const outputs = this.read(chat);
    const at = this.now;
    for (const output of outputs) {
      if (output.type === 'words') {
        record.tokensAt.push(at);
        this.emit({ type: 'speech', at, text: output.text });
        this.emit({ type: 'speech_end', at });
      } else {
        const args = parseArguments(output.json);
        const raw = args === null && { rawArguments: output.json };
        this.emit({ type: 'tool_call', at, endedAt: at, name: output.name, arguments: args, ...raw });
      }
    }
    const hangUp = outputs.find((output) => output.type === 'tool' && HANG_UP_TOOLS.has(output.name));
    if (hangUp?.type === 'tool') {
      return this.emit({ type: 'hang_up', at, reason: hangUpReason(parseArguments(hangUp.json)) });
    }
    this.emit({ type: 'turn_end', at });
  }

  private read(value: unknown): Output[] {
    try {
      const chat = new Fields(value);
      this.previousChatId = chat.text('id', 256);
      return chat.list('output').flatMap(outputsOf);
    } catch (cause) {
      throw this.api.notUnderstood('its answer is not a chat with id and output', cause);
    }
  }

  private fail(broken: Failure): void {
    this.emit({ type: 'failure', at: this.now, failure: broken });
    this.hangUp();
  }
}

/** Results of tools, and the messages of others, are not the agent's. */
function outputsOf(message: Fields): Output[] {
  if (message.text('role') !== 'assistant') return [];
  const text = message.has('content') ? message.text('content') : '';
  const calls = message.has('tool_calls') ? message.list('tool_calls') : [];
  const tools = calls.map((call) => call.of('function'));
  return [
    ...(text.trim() === '' ? [] : [{ type: 'words' as const, text }]),
    ...tools.map((tool) => ({ type: 'tool' as const, name: tool.text('name'), json: tool.text('arguments') })),
  ];
}
