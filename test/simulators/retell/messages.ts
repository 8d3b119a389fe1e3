import type { IncomingHttpHeaders } from 'node:http';

export interface RetellMessage {
  readonly role: string;
  readonly content?: string;
  readonly [field: string]: unknown;
}

/** The body of a client's request, by the typings of `retell-sdk` 5.66.1 (`PlaygroundCompletionParams`). */
export interface CompletionBody {
  readonly messages: readonly RetellMessage[];
  readonly dynamic_variables?: Readonly<Record<string, string>>;
  readonly tool_mocks?: readonly ToolMock[];
  readonly current_state?: string;
  readonly current_node_id?: string;
  readonly component_id?: string;
}

export interface ToolMock {
  readonly tool_name: string;
  readonly input_match_rule: { readonly type: 'any' | 'partial_match'; readonly args?: object };
  readonly output: string;
  readonly result?: boolean;
}

/** `PlaygroundCompletionResponse`. */
export interface CompletionAnswer {
  readonly messages: readonly RetellMessage[];
  readonly call_ended?: boolean;
  readonly current_state?: string;
  readonly current_node_id?: string;
  readonly component_id?: string;
  readonly dynamic_variables?: Readonly<Record<string, string>>;
}

export interface ListedAgent {
  readonly id: string;
  readonly name?: string;
  readonly language?: string;
  readonly prompt?: string;
}

/** A response. Text is sent as it is. A response with `isCut` announces more bytes than it sends. */
export interface Reply {
  readonly status: number;
  readonly body: object | string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isCut?: boolean;
}

/** The agents of an account, and what they answer. */
export interface RetellAgents {
  readonly listed: readonly ListedAgent[];
  knows(id: string): boolean;
  complete(id: string, body: CompletionBody, headers: IncomingHttpHeaders): Promise<Reply>;
}

export const refusal = (status: number, message: string, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  body: { status: 'error', message },
  headers,
});

export const NOT_FOUND = 'Cannot find requested asset under given api key.';
/** The beginning of an answer whose rest is lost. */
export const CUT: Reply = { status: 200, body: '{"messages":[', isCut: true };
