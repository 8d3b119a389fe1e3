/**
 * Accuracy of reported latencies: many concurrent calls with an agent, in a separate process, that waits a known 50 to
 * 2,000 ms before its first token.
 * Usage: node --import @swc-node/register/esm-register test/accuracy/latency.ts [calls] [turns]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { normalise } from '../../libs/evaluation-definition/index.js';
import { OutboundClient } from '../../libs/outbound-http/index.js';
import { executeCall, chatCompletions } from '../../libs/simulation/index.js';
import { percentile } from '../../libs/statistics/index.js';

const LEAST_MS = 50;
const MOST_MS = 2_000;

/** Each line of the caller contains the delay of the agent's reply. */
const waitOf = (call: number, turn: number): number =>
  LEAST_MS + ((call * 617 + turn * 271) % (MOST_MS - LEAST_MS + 1));

function serve(): void {
  const server = createServer((request, response) => {
    const startedAt = performance.now();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { messages } = JSON.parse(Buffer.concat(chunks).toString()) as { messages: { content: string }[] };
      const wait = Number(messages.at(-1)?.content);
      const send = (content: object, end: string | null) =>
        response.write(`data: ${JSON.stringify({ choices: [{ delta: content, finish_reason: end }] })}\n\n`);
      setTimeout(() => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        // Timers fire late on a busy machine, so the reply contains the real delay.
        send({ content: String(performance.now() - startedAt) }, null);
        send({ content: ' ms' }, 'stop');
        response.end('data: [DONE]\n\n');
      }, wait);
    });
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}

async function main(): Promise<void> {
  const [calls = 100, turns = 6] = process.argv.slice(2).map(Number);
  const agent = fork(fileURLToPath(import.meta.url), ['serve'], { execArgv: process.execArgv });
  const [port] = (await once(agent, 'message')) as [number];
  const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
  const errorsOf = async (waits: readonly number[]) => {
    const result = await executeCall({
      definition: normalise({ script: waits.map((wait) => ({ say: String(wait) })) }),
      scenario: { scenarioText: 'Waits' },
      personality: { name: 'Plain' },
      transport: chatCompletions({ client, url: `http://127.0.0.1:${port}/`, assistantId: 'agent' }),
    });
    const speech = result.timeline.filter((entry) => entry.type === 'speech');
    return waits.map((_wait, turn) => {
      const [words, response] = [speech[2 * turn]!, speech[2 * turn + 1]!];
      return response.start - words.end - parseFloat(response.text);
    });
  };
  // Warms up both processes.
  await Promise.all(Array.from({ length: 10 }, () => errorsOf([50, 50])));
  const errors = await Promise.all(
    Array.from({ length: calls }, (_, call) =>
      errorsOf(Array.from({ length: turns }, (_turn, turn) => waitOf(call, turn))),
    ),
  );
  agent.kill();
  const sorted = errors
    .flat()
    .map(Math.abs)
    .sort((a, b) => a - b);
  const shown = [50, 90, 95, 99, 100].map((p) => `p${p} ${percentile(sorted, p)?.toFixed(1)}`).join(', ');
  process.stdout.write(
    `${calls} calls at once, ${sorted.length} replies: reported latency off by ${shown} ms (limit: p95 5)\n`,
  );
}

if (process.argv[2] === 'serve') serve();
else void main();
