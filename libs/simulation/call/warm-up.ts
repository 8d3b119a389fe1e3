import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { normalise } from '../../evaluation-definition/index.js';
import { OutboundClient } from '../../outbound-http/index.js';
import { executeCall } from './call.js';
import { chatCompletions } from '../transports/text/chat-completions/index.js';

/** Enough for the functions of a turn to be compiled. */
const CALLS = 3;
const TURNS = 5;

/**
 * Executes a few calls with an agent of its own over the loopback interface, so that loading modules and compiling
 * functions is not measured as the latency of the first agent. Takes about a tenth of a second.
 */
export async function warmUp(): Promise<void> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => answer(response));
  });
  await listen(server);
  try {
    const { port } = server.address() as AddressInfo;
    for (let n = 0; n < CALLS; n++) await callAgent(`http://127.0.0.1:${port}/`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const callAgent = (url: string) =>
  executeCall({
    definition: normalise({
      script: Array.from({ length: TURNS }, () => ({
        when: { notSays: { text: 'goodbye' } },
        say: 'I would like to book a table.',
      })),
      checks: [
        { type: 'says', text: 'table' },
        { type: 'never_says', pattern: '(?i)sorry' },
        { type: 'calls_tool', tool: 'book_table', arguments: { people: 4 } },
        { type: 'max_latency_ms', ms: 1_000 },
        { type: 'max_silence_ms', ms: 1_000 },
      ],
    }),
    scenario: { scenarioText: '' },
    personality: { name: '' },
    transport: chatCompletions({
      client: new OutboundClient({ allowedNetworks: ['127.0.0.1/32'] }),
      url,
      assistantId: 'warm-up',
    }),
  });

function answer(response: ServerResponse): void {
  const send = (delta: object, finish: string | null = null) =>
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  send({ role: 'assistant', content: '' });
  for (const content of ['Your', ' table', ' is', ' booked', '.']) send({ content });
  send({ tool_calls: [{ index: 0, id: 'a', function: { name: 'book_table', arguments: '{"people":4}' } }] });
  send({}, 'stop');
  response.end('data: [DONE]\n\n');
}

const listen = (server: Server) =>
  new Promise<void>((resolve, reject) => {
    server.on('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
