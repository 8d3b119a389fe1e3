import { AgentFailure, createReferenceAgent, type ReferenceAgentOptions } from '../agent/agent.js';
import type { Message } from '../agent/conversation.js';
import { FAULT_NAMES, type FaultName, isFault, isHealthy } from '../agent/faults.js';
import { noSuchFault } from '../agent/voice/platform-faults.js';
import type { VoiceAgentOptions } from '../agent/voice/voice-agent.js';
import { preparedOnce, type VoiceServiceOptions } from '../agent/voice/voice-service.js';
import { isTelephoneFault, plantedBy, type TelephoneFaultName } from '../agent/voice/word-faults.js';
import { objectOf, RequestError } from '../http.js';
import { type CompletionBody, CUT, type ListedAgent, refusal, type Reply, type RetellAgents } from './messages.js';

export interface ReferenceRetellOptions extends ReferenceAgentOptions, Pick<VoiceAgentOptions, 'responseMs'> {
  /** Synthesises what it speaks and hears with; without it, it has no voice. */
  readonly prepare?: VoiceServiceOptions['prepare'];
}

type Json = Readonly<Record<string, unknown>>;

const MAX_ROUNDS = 8;
const PROMPT = 'You take reservations for the restaurant Bella Vista.';

/** The reference agent as agents of Retell, in text and by voice: one without a fault, and one with each fault. */
export class ReferenceRetell implements RetellAgents {
  readonly listed: readonly ListedAgent[] = [
    'booking',
    ...['healthy', ...FAULT_NAMES].map((fault) => `booking:${fault}`),
  ].map((id) => ({
    id,
    name: id.replace('booking', 'Bella Vista').replace(':', ', '),
    language: 'en-US',
    prompt: PROMPT,
  }));

  private readonly prepared;

  constructor(private readonly options: ReferenceRetellOptions) {
    this.prepared = options.prepare && preparedOnce(options.prepare);
  }

  knows(agent: string): boolean {
    return this.voiceFaultOf(agent) !== null;
  }

  /** How an agent speaks; undefined while it cannot. */
  async voice(agent: string): Promise<VoiceAgentOptions | undefined> {
    const prepared = await this.prepared?.().catch(() => undefined);
    const { now = Date.now, slowMs, responseMs } = this.options;
    if (!prepared) return undefined;
    return {
      ...{ ...prepared, ...plantedBy(this.voiceFaultOf(agent) ?? undefined), today: now() },
      ...(slowMs !== undefined && { slowMs }),
      ...(responseMs !== undefined && { responseMs }),
    };
  }

  private voiceFaultOf(agent: string): TelephoneFaultName | undefined | null {
    const fault = agent.startsWith('booking:') ? agent.slice('booking:'.length) : this.options.fault;
    if (fault === undefined || isHealthy(fault)) return undefined;
    return isTelephoneFault(fault) ? fault : null;
  }

  async complete(agent: string, body: CompletionBody): Promise<Reply> {
    const fault = this.faultOf(agent);
    if (fault === null) return refusal(422, `Agent ${agent} not found. ${noSuchFault('retell')}`);
    const [messages, mocks] = [listOf(body, 'messages'), listOf({ tool_mocks: [], ...body }, 'tool_mocks')];
    try {
      const { fault: _, ...options } = this.options;
      return { status: 200, body: await respond(messages, mocks, { ...options, fault }) };
    } catch (failure) {
      if (!(failure instanceof AgentFailure)) throw failure;
      return failure.status === undefined ? CUT : refusal(failure.status, failure.message);
    }
  }

  /**
   * A name without a fault, such as that which the testing service sends, has the configured fault.
   * @returns null for a fault that does not exist
   */
  private faultOf(agent: string): FaultName | undefined | null {
    if (!agent.startsWith('booking:')) return this.options.fault;
    const fault = agent.slice('booking:'.length);
    if (isHealthy(fault)) return undefined;
    return isFault(fault) ? fault : null;
  }
}

/** The new messages. A tool that has a mock returns its output, as on the platform; the agent runs the others itself. */
async function respond(
  messages: readonly Json[],
  mocks: readonly Json[],
  options: Parameters<typeof createReferenceAgent>[0],
) {
  const agent = createReferenceAgent(options);
  const history = messages.flatMap(messageOf);
  const hostedTools = new Set(mocks.flatMap(({ tool_name: name }) => (typeof name === 'string' ? name : [])));
  const added: object[] = [];
  let hasEnded = false;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    let isWaiting = false;
    let text = '';
    for await (const part of agent.respond(history, { hostedTools })) {
      if (part.type === 'text') text += part.text;
      else if (part.type === 'end') isWaiting = part.finishReason === 'tool_calls';
      else {
        if (part.name === 'end_call') hasEnded = true;
        const { id, name, arguments: json } = part;
        added.push({ role: 'tool_call_invocation', tool_call_id: id, name, arguments: json });
        if (!hostedTools.has(name)) continue;
        const content = mockFor(mocks, name, JSON.parse(json) as Json);
        added.push({ role: 'tool_call_result', tool_call_id: id, content, successful: true });
        history.push({ role: 'tool', content, toolCallId: id });
      }
    }
    if (text !== '') added.push({ role: 'agent', content: text });
    if (!isWaiting) break;
  }
  return { messages: added, call_ended: hasEnded };
}

function messageOf({ role, content, tool_call_id: id }: Json): Message[] {
  const text = typeof content === 'string' ? content : '';
  if (role === 'user') return [{ role: 'user', content: text }];
  if (role === 'agent') return [{ role: 'assistant', content: text }];
  return role === 'tool_call_result'
    ? [{ role: 'tool', content: text, toolCallId: typeof id === 'string' ? id : '' }]
    : [];
}

/** Output of the first mock that fits the arguments; without one, a result that says only `ok`. */
function mockFor(mocks: readonly Json[], name: string, args: Json): string {
  const found = mocks.find(({ tool_name: tool, input_match_rule: rule }) => {
    const wanted = (rule as { args?: Json } | undefined)?.args ?? {};
    return (
      tool === name &&
      Object.entries(wanted).every(([key, value]) => JSON.stringify(args[key]) === JSON.stringify(value))
    );
  });
  const output = found?.['output'];
  return typeof output === 'string' ? output : '{"status":"ok"}';
}

/** @throws RequestError unless the field is a list of objects */
function listOf(body: object, field: string): Json[] {
  const list = (body as Json)[field];
  if (!Array.isArray(list)) throw new RequestError(400, `${field} must be a list`, field);
  return list.map((entry, index) => objectOf(entry, `${field}[${index}]`));
}
