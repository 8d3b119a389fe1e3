import { setTimeout as sleep } from 'node:timers/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { streamText, TestServers } from '../../servers.js';

/** A request to the agent, with the caller's last utterance. */
export interface AgentRequest {
  readonly model: string;
  readonly said: string;
  readonly authorization: string | undefined;
  readonly response: ServerResponse;
}

/** An agent whose behaviour a test defines. */
export interface ScriptedAgent {
  /** The chat-completions endpoint. */
  readonly url: string;
  readonly requests: AgentRequest[];
  /** Number of requests in progress, and the highest number so far, by assistant. */
  readonly active: Map<string, number>;
  readonly peak: Map<string, number>;
  close(): Promise<void>;
}

/** @param behave returns the text of the response, or writes the response itself */
export async function startScriptedAgent(
  behave: (request: AgentRequest) => string | void | Promise<string | void> = () => 'Welcome!',
): Promise<ScriptedAgent> {
  const servers = new TestServers();
  const requests: AgentRequest[] = [];
  const active = new Map<string, number>();
  const peak = new Map<string, number>();
  const handle = async (response: ServerResponse, body: any, request: IncomingMessage) => {
    const received = {
      model: body.model as string,
      said: body.messages.at(-1)?.content as string,
      authorization: request.headers.authorization,
      response,
    };
    requests.push(received);
    const count = (active.get(received.model) ?? 0) + 1;
    active.set(received.model, count);
    peak.set(received.model, Math.max(peak.get(received.model) ?? 0, count));
    response.once('close', () => active.set(received.model, (active.get(received.model) ?? 1) - 1));
    const text = await behave(received);
    if (typeof text === 'string') streamText(response, text);
  };
  const url = await servers.http((response, body, request) => void handle(response, body, request));
  return {
    url: `${url}/v1/chat/completions`,
    requests,
    active,
    peak,
    close: () => servers.close(),
  };
}

/** Returns `text` after `ms` milliseconds. */
export const delayed = async (ms: number, text = 'Welcome!'): Promise<string> => {
  await sleep(ms, undefined, { ref: false });
  return text;
};
