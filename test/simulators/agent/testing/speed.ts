/**
 * How many turns one process answers per second, in process and over HTTP with the load in a separate process:
 * `node --import @swc-node/register/esm-register test/simulators/agent/testing/speed.ts [SECONDS]`
 */
import { fork } from 'node:child_process';
import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { createReferenceAgent, type Message, startReferenceAgent } from '../index.js';

const CONNECTIONS = 32;
const seconds = Number(process.argv[2] ?? 5);

const lines = [
  "Hello, I'd like to book a table.",
  'Four.',
  'Friday.',
  'Half past seven.',
  'Rossi.',
  '555 0142.',
  'Yes.',
];

/** The requests of a call of seven turns, one per turn, as a caller would send them. */
async function conversation(): Promise<Message[][]> {
  const agent = createReferenceAgent();
  const messages: Message[] = [];
  const requests: Message[][] = [];
  for (const content of lines) {
    messages.push({ role: 'user', content });
    requests.push([...messages]);
    let text = '';
    for await (const part of agent.respond(messages)) if (part.type === 'text') text += part.text;
    messages.push({ role: 'assistant', content: text });
  }
  return requests;
}

async function inProcess(): Promise<number> {
  const agent = createReferenceAgent();
  const requests = await conversation();
  const start = performance.now();
  let turns = 0;
  while (performance.now() - start < seconds * 1_000) {
    for (const messages of requests) {
      for await (const _part of agent.respond(messages)) void _part;
      turns += 1;
    }
  }
  return (turns * 1_000) / (performance.now() - start);
}

/** Sends turns on many connections and returns how many were answered per second, checking each answer's end. */
async function load(url: string): Promise<number> {
  const bodies = (await conversation()).map((messages) => JSON.stringify({ model: 'booking', messages, stream: true }));
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const ask = (body: string) =>
    new Promise<void>((resolve, reject) => {
      const sent = request(`${url}/v1/chat/completions`, { method: 'POST', agent }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => (text.endsWith('data: [DONE]\n\n') ? resolve() : reject(new Error(text))));
      });
      sent.on('error', reject).end(body);
    });
  const start = performance.now();
  let turns = 0;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (performance.now() - start < seconds * 1_000) {
        for (const body of bodies) {
          await ask(body);
          turns += 1;
        }
      }
    }),
  );
  agent.destroy();
  return (turns * 1_000) / (performance.now() - start);
}

if (process.send && process.argv[3]) process.send(await load(process.argv[3]), () => process.disconnect());
else {
  process.stdout.write(`in process        ${Math.round(await inProcess())} turns/s\n`);
  const server = await startReferenceAgent({ port: 0 });
  const before = process.cpuUsage();
  const worker = fork(fileURLToPath(import.meta.url), [String(seconds), server.url]);
  const rate = await new Promise<number>((resolve) => worker.once('message', (message) => resolve(Number(message))));
  const { user, system } = process.cpuUsage(before);
  const cpu = (user + system) / 1_000 / (rate * seconds);
  const memory = Math.round(process.memoryUsage.rss() / 1024 / 1024);
  process.stdout.write(
    `HTTP, ${CONNECTIONS} at once  ${Math.round(rate)} turns/s, ${cpu.toFixed(3)} ms CPU per turn, ${memory} MB\n`,
  );
  await server.close();
}
