import type { ServerResponse } from 'node:http';
import { delta, event, streamText, type TestServers } from '../../servers.js';

interface Message {
  readonly role: string;
  readonly content: string | null;
}

const callTool = (response: ServerResponse, name: string, args: object, said = '', finish = 'tool_calls') => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (said !== '') response.write(delta({ content: said }));
  const call = { name, arguments: JSON.stringify(args) };
  response.write(delta({ tool_calls: [{ index: 0, id: `call_${name}`, type: 'function', function: call }] }));
  response.end(delta({}, finish) + event('[DONE]'));
};

/**
 * A booking agent that relies on its tools: it offers the times that `find_table` returns for as many people as the caller
 * says, books the first one with `book_table`, and confirms with the reference of that result.
 * @param waitMs before each of its responses
 */
export function startToolAgent(servers: TestServers, { waitMs = 0 } = {}): Promise<string> {
  return servers.http((response, { messages }: { messages: readonly Message[] }) => {
    setTimeout(() => answer(response, messages), waitMs);
  });
}

function answer(response: ServerResponse, messages: readonly Message[]): void {
  const last = messages.at(-1)!;
  if (last.role === 'user') {
    const people = Number(/\d+/.exec(last.content ?? '')?.[0] ?? 2);
    return callTool(response, 'find_table', { people, day: 'Friday' });
  }
  const result = JSON.parse(last.content ?? 'null') as { times?: string[]; reference?: string; status?: string };
  if (result.times) return callTool(response, 'book_table', { time: result.times[0] });
  const reference = result.reference ?? `without a reference, status ${result.status}`;
  return streamText(response, `Your table is booked, ${reference}.`);
}

/** An agent that calls the same tool again whatever it returns. */
export const startEndlessToolAgent = (servers: TestServers): Promise<string> =>
  servers.http((response) => callTool(response, 'find_table', { people: 4 }));

/** An agent that runs its tools itself: it calls one while it speaks, and ends with another reason than `tool_calls`. */
export const startSelfServingAgent = (servers: TestServers, finish: string): Promise<string> =>
  servers.http((response) => callTool(response, 'find_table', { people: 4 }, 'We have a table.', finish));

/** An agent that calls `find` with the arguments that the caller says as JSON, and confirms only what is free. */
export const startArgumentAgent = (servers: TestServers): Promise<string> =>
  servers.http((response, { messages }: { messages: readonly Message[] }) => {
    const { role, content } = messages.at(-1)!;
    if (role === 'user') return callTool(response, 'find', JSON.parse(content ?? '{}') as object);
    const { free } = JSON.parse(content ?? '{}') as { free?: boolean };
    streamText(response, free ? 'It is booked.' : 'Sorry, that is not possible.');
  });

export interface PersistentAgent {
  /** How it writes the time in its arguments. */
  readonly time: string;
  /** What it says before it calls the tool. */
  readonly filler: string;
  /** Whether it confirms whatever the tool says. */
  readonly confirmsAnything?: boolean;
}

/** An agent that asks its tool again until there is a free table, and says so when the tool fails. */
export const startPersistentAgent = (servers: TestServers, agent: PersistentAgent): Promise<string> =>
  servers.http((response, { messages }: { messages: readonly Message[] }) => {
    const { time, filler, confirmsAnything = false } = agent;
    const result = messages.findLast(({ role }) => role === 'tool')?.content;
    if (result === undefined) return callTool(response, 'find_table', { time }, filler);
    const { times = [], error } = JSON.parse(result ?? '{}') as { times?: string[]; error?: string };
    if (times[0] !== undefined || confirmsAnything)
      return streamText(response, `It is booked for ${times[0] ?? time}.`);
    if (error !== undefined) return streamText(response, 'I cannot reach our booking system at the moment.');
    return callTool(response, 'find_table', { time });
  });

/** An agent that says for how many people the whole conversation asks; `forgets`: only what the caller has just said. */
export const startMindfulAgent = (
  servers: TestServers,
  onRequest: (body: object) => void = () => undefined,
  forgets = false,
  wanted = 'four',
): Promise<string> =>
  servers.http((response, body: { messages: readonly Message[] }) => {
    onRequest(body);
    const read = forgets ? body.messages.slice(-1) : body.messages;
    const people = read.some(({ content }) => content?.includes(wanted)) ? wanted : 'how many';
    streamText(response, `It is for ${people}, then.`);
  });
