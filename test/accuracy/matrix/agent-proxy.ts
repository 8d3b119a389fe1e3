import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export interface ProxiedRequest {
  /** Parts of the path before `/v1/chat/completions`. */
  readonly path: readonly string[];
  readonly body: string;
  /** Number of the caller's turns so far. */
  readonly turn: number;
  /** Number of the call's attempt, from 0; calls differ by their path. */
  readonly attempt: number;
}

export interface AgentProxy {
  /** The chat-completions address with these parts in its path. */
  url(...path: string[]): string;
  close(): Promise<void>;
}

/** An agent on a free loopback port whose answers are changed by `handle`. */
export async function startAgentProxy(
  handle: (request: ProxiedRequest, response: ServerResponse) => Promise<void> | void,
): Promise<AgentProxy> {
  const callIds = new Map<string, string[]>();
  const attemptOf = ({ url = '', headers }: IncomingMessage): number => {
    const ids = callIds.get(url) ?? [];
    callIds.set(url, ids);
    const id = String(headers['x-call-id']);
    if (!ids.includes(id)) ids.push(id);
    return ids.indexOf(id);
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const attempt = attemptOf(request);
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { messages } = JSON.parse(body) as { messages: { role: string }[] };
    const turn = messages.filter(({ role }) => role === 'user').length;
    const path = (request.url ?? '').split('/').slice(1, -3).map(decodeURIComponent);
    await handle({ path, body, turn, attempt }, response);
  };
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    serve(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: (...path) => `http://127.0.0.1:${port}/${path.map(encodeURIComponent).join('/')}/v1/chat/completions`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Passes the request on to the reference agent, and its answer back. */
export async function forward(agentUrl: string, { body }: ProxiedRequest, response: ServerResponse): Promise<void> {
  const answer = await fetch(`${agentUrl}/v1/chat/completions`, { method: 'POST', body });
  response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
  response.end(Buffer.from(await answer.arrayBuffer()));
}
