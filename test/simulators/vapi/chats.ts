import { randomUUID } from 'node:crypto';

/** A message of a chat. */
export interface ChatMessage {
  readonly role: 'assistant' | 'tool' | 'system' | 'user';
  readonly content?: string;
  readonly [field: string]: unknown;
}

export const says = (content: string): ChatMessage => ({ role: 'assistant', content });

export const calls = (id: string, name: string, args: object): ChatMessage => ({
  role: 'assistant',
  tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
});

export const result = (tool_call_id: string, content: string): ChatMessage => ({ role: 'tool', tool_call_id, content });

const MAX_CHATS = 10_000;

/** The chats of an account: each names the one before it. */
export class Chats {
  private readonly chats = new Map<string, { readonly history: readonly ChatMessage[]; readonly turns: number }>();

  /** @param reply what the assistant answers; `turns` counts the turns before this one */
  async answer(
    { previousChatId, assistantId, input }: Readonly<Record<string, unknown>>,
    reply: (history: readonly ChatMessage[], turns: number) => Promise<readonly ChatMessage[]>,
  ): Promise<[number, unknown]> {
    if (typeof input !== 'string' || input === '') return badRequest('input should not be empty');
    const before = previousChatId === undefined ? { history: [], turns: 0 } : this.chats.get(previousChatId as string);
    if (!before) return badRequest('Previous chat not found');
    const history: ChatMessage[] = [...before.history, { role: 'user', content: input }];
    const output = await reply(history, before.turns);
    const id = randomUUID();
    this.chats.set(id, { history: [...history, ...output], turns: before.turns + 1 });
    if (this.chats.size > MAX_CHATS) this.chats.delete(this.chats.keys().next().value!);
    const now = new Date().toISOString();
    return [
      201,
      {
        id,
        orgId: 'org_1',
        assistantId,
        createdAt: now,
        updatedAt: now,
        ...(previousChatId !== undefined && { previousChatId }),
        messages: [{ role: 'user', content: input }],
        output,
      },
    ];
  }
}

const badRequest = (message: string): [number, unknown] => [400, { message, error: 'Bad Request', statusCode: 400 }];
