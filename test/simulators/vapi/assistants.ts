import type { Session, SessionSocket } from '../session-sockets.js';
import type { ChatMessage } from './chats.js';
import type { Format } from './messages.js';

/** Status and body of a response; status 0 cuts the connection. */
export type Reply = readonly [number, unknown];

/** The assistants of an account, and what they do in calls and chats. */
export interface VapiAssistants {
  readonly listed: readonly object[];
  /** Prepares what a call needs; calls wait for it. */
  prepare(): Promise<unknown>;
  /** @returns why there is no such assistant; undefined if there is one */
  missing(assistantId: unknown, medium: 'call' | 'chat'): string | undefined;
  /** @returns undefined if the assistant cannot take calls */
  begin(assistantId: unknown, format: Format): Promise<((socket: SessionSocket) => Session) | undefined>;
  /** @param turn from 0 @throws ChatFailure */
  reply(assistantId: unknown, history: readonly ChatMessage[], turn: number): Promise<readonly ChatMessage[]>;
}

/** The assistant cannot answer a turn of a chat. */
export class ChatFailure extends Error {
  constructor(readonly reply: Reply) {
    super('The chat failed');
  }
}

export const doesNotExist = (assistantId: unknown): string =>
  `Couldn't get assistant. ${String(assistantId).slice(0, 100)} does not exist.`;
