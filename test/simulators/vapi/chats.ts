import { randomUUID } from 'node:crypto';
import { createReferenceAgent, type ReferenceAgent, type ReferenceAgentOptions } from '../agent/agent.js';
import type { Message } from '../agent/conversation.js';

const MAX_CHATS = 10_000;

/** Chats with the agent: each goes on from the one that it names. */
export class Chats {
  private readonly histories = new Map<string, readonly Message[]>();

  /** @returns undefined if the previous chat does not exist @throws AgentFailure */
  async answer(
    input: string,
    previousChatId: unknown,
    options: Pick<ReferenceAgentOptions, 'fault' | 'now' | 'slowMs'>,
  ): Promise<object | undefined> {
    const before = previousChatId === undefined ? [] : this.histories.get(previousChatId as string);
    if (!before) return undefined;
    const history: Message[] = [...before, { role: 'user', content: input }];
    const output = await outputOf(createReferenceAgent(options), history);
    const content = output.map((one) => ('content' in one && one.role === 'assistant' ? one.content : '')).join('');
    const id = randomUUID();
    this.histories.set(id, [...history, { role: 'assistant', content }]);
    if (this.histories.size > MAX_CHATS) this.histories.delete(this.histories.keys().next().value!);
    const now = new Date().toISOString();
    const messages = [{ role: 'user', content: input }];
    return { id, orgId: 'org_reference', messages, output, createdAt: now, updatedAt: now };
  }
}

type Output =
  | { readonly role: 'assistant'; readonly content: string }
  | { readonly role: 'assistant'; readonly tool_calls: readonly object[] }
  | { readonly role: 'tool'; readonly content: string; readonly tool_call_id: string };

/** The platform runs the tools, and shows what they were called with. */
async function outputOf(agent: ReferenceAgent, history: readonly Message[]): Promise<Output[]> {
  const output: Output[] = [];
  let content = '';
  const say = () => {
    if (content !== '') output.push({ role: 'assistant', content });
    content = '';
  };
  for await (const part of agent.respond(history)) {
    if (part.type === 'text') content += part.text;
    if (part.type !== 'tool_call') continue;
    say();
    const { id, name, arguments: json } = part;
    output.push({ role: 'assistant', tool_calls: [{ id, type: 'function', function: { name, arguments: json } }] });
    if (name !== 'end_call') output.push({ role: 'tool', tool_call_id: id, content: '{"status":"ok"}' });
  }
  say();
  return output;
}
