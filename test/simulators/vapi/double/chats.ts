import { randomUUID } from 'node:crypto';

/** A message of the output of a chat. */
export interface ChatMessage {
  readonly role: 'assistant' | 'tool' | 'system' | 'user';
  readonly content?: string;
  readonly [field: string]: unknown;
}

/** The outputs of a chat, turn by turn. */
export type ChatScript = readonly (readonly ChatMessage[])[];

export const says = (content: string): ChatMessage => ({ role: 'assistant', content });

export const calls = (id: string, name: string, args: object): ChatMessage => ({
  role: 'assistant',
  tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
});

export const result = (tool_call_id: string, content: string): ChatMessage => ({ role: 'tool', tool_call_id, content });

/** The chats of an account: each names the one before it. */
export class Chats {
  private readonly turns = new Map<string, number>();

  constructor(private readonly script: ChatScript) {}

  answer(body: Readonly<Record<string, unknown>>): [number, unknown] {
    const { previousChatId, assistantId, input } = body;
    if (typeof input !== 'string' || input === '') return badRequest('input should not be empty');
    const turn = previousChatId === undefined ? 0 : this.turns.get(previousChatId as string);
    if (turn === undefined) return badRequest('Previous chat not found');
    const id = randomUUID();
    this.turns.set(id, turn + 1);
    const now = new Date().toISOString();
    return [
      201,
      {
        ...{ id, orgId: 'org_1', assistantId, createdAt: now, updatedAt: now },
        ...(previousChatId !== undefined && { previousChatId }),
        messages: [{ role: 'user', content: input }],
        output: this.script[turn] ?? [],
      },
    ];
  }
}

const badRequest = (message: string): [number, unknown] => [400, { message, error: 'Bad Request', statusCode: 400 }];
