import type { ServerResponse } from 'node:http';
import { type AgentProxy, forward, type ProxiedRequest, startAgentProxy } from './agent-proxy.js';

interface Completion {
  readonly choices: readonly {
    readonly message: { readonly content: string | null; readonly tool_calls?: readonly object[] };
    readonly finish_reason: string;
  }[];
}

type Send = (completion: Completion, response: ServerResponse) => void;

/** Ways in which a healthy agent may send the same answers. */
export const HEALTHY_AGENTS: Readonly<Record<string, { readonly description: string; readonly send?: Send }>> = {
  streamed: { description: 'streams its answers word by word' },
  whole: {
    description: 'sends each answer as one JSON object, although a stream was requested',
    send: (completion, response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(completion)),
  },
  'by-character': {
    description: 'streams single characters with CRLF, comments and a byte order mark, and ends without [DONE]',
    send: sendByCharacter,
  },
};

function sendByCharacter({ choices: [choice] }: Completion, response: ServerResponse): void {
  const { message, finish_reason: finish } = choice!;
  const write = (delta: object, end: string | null = null) =>
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: end }] })}\r\n\r\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('\uFEFF: connected\r\n\r\n');
  for (const character of message.content ?? '') write({ content: character });
  response.write(': still here\r\n\r\n');
  for (const [index, call] of (message.tool_calls ?? []).entries()) write({ tool_calls: [{ index, ...call }] });
  write({}, finish);
  response.end();
}

/** A proxy of the healthy reference agent; its path is the kind of agent and the evaluation. */
export const startHealthyAgents = (agentUrl: string): Promise<AgentProxy> =>
  startAgentProxy(async (request: ProxiedRequest, response: ServerResponse) => {
    const send = HEALTHY_AGENTS[request.path[0] ?? '']?.send;
    if (!send) return forward(agentUrl, request, response);
    const body = JSON.stringify({ ...(JSON.parse(request.body) as object), stream: false });
    const answer = await fetch(`${agentUrl}/v1/chat/completions`, { method: 'POST', body });
    send((await answer.json()) as Completion, response);
  });
