import { setTimeout as sleep } from 'node:timers/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { streamText, TestServers } from '../../libs/simulation/testing/servers.js';

/** A request to the agent: what the caller has said last, and how it was sent. */
export interface AgentRequest {
  readonly model: string;
  readonly said: string;
  readonly authorization: string | undefined;
  readonly response: ServerResponse;
}

/** An agent that a test plays. */
export interface ScriptedAgent {
  /** Its address for chat completions. */
  readonly url: string;
  readonly requests: AgentRequest[];
  /** Requests under way now, and the most at once, by assistant. */
  readonly active: Map<string, number>;
  readonly peak: Map<string, number>;
  close(): Promise<void>;
}

/** @param behave answers a request: with a text, or by itself */
export async function startScriptedAgent(
  behave: (requests: AgentRequest) => string | void | Promise<string | void> = () => 'Welcome!',
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
    requests: requests,
    active: active,
    peak: peak,
    close: () => servers.close(),
  };
}

/** An answer after so many milliseconds. */
export const delayed = async (ms: number, text = 'Welcome!'): Promise<string> => {
  await sleep(ms, undefined, { ref: false });
  return text;
};
