import { AgentFailure, createReferenceAgent, type ReferenceAgent } from '../agent/agent.js';
import type { Message } from '../agent/conversation.js';
import { isFault, isHealthy } from '../agent/faults.js';
import { FAULTS_OVER, noSuchFault } from '../agent/voice/platform-faults.js';
import { preparedOnce, type VoiceServiceOptions } from '../agent/voice/voice-service.js';
import type { Session, SessionSocket } from '../session-sockets.js';
import { ChatFailure, doesNotExist, type VapiAssistants } from './assistants.js';
import { type ChatMessage, result, says } from './chats.js';
import type { Format } from './messages.js';
import { VapiAgentSession, type VapiSessionOptions } from './session.js';
import { isVapiFault } from './vapi-faults.js';

export interface ReferenceVapiOptions
  extends VoiceServiceOptions, Omit<VapiSessionOptions, 'today' | 'voice' | 'recogniser' | 'onAnswer' | 'format'> {}

/** The reference agent as assistants of Vapi: one without a fault, and one with each fault. */
export class ReferenceVapi implements VapiAssistants {
  readonly listed = ASSISTANTS;
  readonly prepare = preparedOnce(() => this.options.prepare());

  constructor(private readonly options: ReferenceVapiOptions) {}

  missing(assistantId: unknown, medium: 'call' | 'chat'): string | undefined {
    const fault = this.faultOf(assistantId);
    const isKnown = fault === undefined || isVapiFault(fault) || (medium === 'chat' && isFault(fault));
    return isKnown ? undefined : `${doesNotExist(assistantId)} ${noSuchFault('vapi')}`;
  }

  async begin(assistantId: unknown, format: Format): Promise<((socket: SessionSocket) => Session) | undefined> {
    const prepared = await this.prepare().catch(() => undefined);
    if (!prepared) return undefined;
    const name = this.faultOf(assistantId);
    const { now = Date.now, onAnswer, ...options } = this.options;
    return (socket) =>
      new VapiAgentSession(socket, {
        ...options,
        ...prepared,
        format,
        today: now(),
        fault: name !== undefined && isVapiFault(name) ? name : undefined,
        // The stamp is from the arrival of the last message; recognising the line took until now.
        onAnswer: (stamp) => onAnswer?.({ ...stamp, firstByteMs: performance.now() }),
      });
  }

  async reply(assistantId: unknown, history: readonly ChatMessage[]): Promise<readonly ChatMessage[]> {
    const name = this.faultOf(assistantId);
    const { now = Date.now, slowMs } = this.options;
    const fault = name !== undefined && isFault(name) ? { fault: name } : {};
    const agent = createReferenceAgent({ ...fault, now, ...(slowMs !== undefined && { slowMs }) });
    try {
      return await outputOf(agent, messagesOf(history));
    } catch (error) {
      if (!(error instanceof AgentFailure)) throw error;
      throw new ChatFailure([error.status ?? 0, { message: error.message, statusCode: error.status }]);
    }
  }

  /** A name without a fault, such as that which the testing service sends, has the configured fault. */
  private faultOf(assistantId: unknown): string | undefined {
    if (typeof assistantId !== 'string' || !assistantId.startsWith('booking:')) return this.options.fault;
    const fault = assistantId.slice('booking:'.length);
    return isHealthy(fault) ? undefined : fault;
  }
}

/** The assistant's texts before and after calls of tools are one message. */
function messagesOf(history: readonly ChatMessage[]): Message[] {
  const messages: { role: 'user' | 'assistant'; content: string }[] = [];
  for (const { role, content = '' } of history) {
    if (role !== 'user' && role !== 'assistant') continue;
    const last = messages.at(-1);
    if (role === 'assistant' && last?.role === 'assistant') last.content += content;
    else messages.push({ role, content });
  }
  return messages;
}

/** The platform runs the tools, and shows what they were called with. */
async function outputOf(agent: ReferenceAgent, history: readonly Message[]): Promise<ChatMessage[]> {
  const output: ChatMessage[] = [];
  let content = '';
  const say = () => {
    if (content !== '') output.push(says(content));
    content = '';
  };
  for await (const part of agent.respond(history)) {
    if (part.type === 'text') content += part.text;
    if (part.type !== 'tool_call') continue;
    say();
    const { id, name, arguments: json } = part;
    output.push({ role: 'assistant', tool_calls: [{ id, type: 'function', function: { name, arguments: json } }] });
    if (name !== 'end_call') output.push(result(id, '{"status":"ok"}'));
  }
  say();
  return output;
}

const ASSISTANTS = ['booking', ...['healthy', ...FAULTS_OVER.vapi].map((fault) => `booking:${fault}`)].map((id) => ({
  id,
  orgId: 'org_1',
  name: id.replace('booking', 'Bella Vista').replace(':', ', '),
  model: {
    provider: 'custom-llm',
    model: 'rules',
    messages: [{ role: 'system', content: 'You take reservations for the restaurant Bella Vista.' }],
  },
  transcriber: { provider: 'custom-transcriber', language: 'en' },
}));
