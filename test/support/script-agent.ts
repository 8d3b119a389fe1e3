import { setTimeout as sleep } from 'node:timers/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { streamText, TestServers } from '../../libs/simulation/testing/servers.js';

/** A request to the agent: what the caller has said last, and how it was sent. */
export interface Heard {
  readonly model: string;
  readonly said: string;
  readonly authorization: string | undefined;
  readonly response: ServerResponse;
}

/** An agent that a test plays. */
export interface ScriptAgent {
  /** Its address for chat completions. */
  readonly url: string;
  readonly heard: Heard[];
  /** Requests under way now, and the most at once, by assistant. */
  readonly now: Map<string, number>;
  readonly most: Map<string, number>;
  close(): Promise<void>;
}

/** @param behave answers a request: with a text, or by itself */
export async function startScriptAgent(
  behave: (heard: Heard) => string | void | Promise<string | void> = () => 'Welcome!',
): Promise<ScriptAgent> {
  const servers = new TestServers();
  const heard: Heard[] = [];
  const now = new Map<string, number>();
  const most = new Map<string, number>();
  const answer = async (response: ServerResponse, body: any, request: IncomingMessage) => {
    const one = {
      model: body.model as string,
      said: body.messages.at(-1)?.content as string,
      authorization: request.headers.authorization,
      response,
    };
    heard.push(one);
    const atOnce = (now.get(one.model) ?? 0) + 1;
    now.set(one.model, atOnce);
    most.set(one.model, Math.max(most.get(one.model) ?? 0, atOnce));
    response.once('close', () => now.set(one.model, (now.get(one.model) ?? 1) - 1));
    const text = await behave(one);
    if (typeof text === 'string') streamText(response, text);
  };
  const url = await servers.http((response, body, request) => void answer(response, body, request));
  return { url: `${url}/v1/chat/completions`, heard, now, most, close: () => servers.close() };
}

/** An answer after so many milliseconds. */
export const after = async (ms: number, text = 'Welcome!'): Promise<string> => {
  await sleep(ms, undefined, { ref: false });
  return text;
};
