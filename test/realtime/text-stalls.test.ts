import { Worker } from 'node:worker_threads';
import { OutboundClient } from '../../libs/outbound-http/index.js';
import { afterAttempt, attemptOf, chatCompletions, RealClock } from '../../libs/simulation/index.js';
import { call } from '../../libs/simulation/testing/calls.js';

/** Keeps the event loop busy. */
function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe('a stalled tester', () => {
  const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
  const definition = { script: [{ say: 'Hello.' }], checks: [{ type: 'max_latency_ms', ms: 250 } as const] };
  let agent: Worker;
  let url: (delayMs: number) => string;

  /** In a thread of its own: an agent does not stall with the tester. */
  beforeAll(async () => {
    const program = `
      const { createServer } = require('node:http');
      const { parentPort } = require('node:worker_threads');
      const body = JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'Hi.' } }] });
      const server = createServer((request, response) => {
        request.resume();
        setTimeout(() => {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(body);
        }, Number(request.url.slice(1)));
      });
      server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`;
    agent = new Worker(program, { eval: true });
    const port = await new Promise<number>((resolve) => agent.once('message', resolve));
    url = (delayMs) => `http://127.0.0.1:${port}/${delayMs}`;
  });

  afterAll(() => agent.terminate());

  /** @param stallMs how long this process is blocked from 50 ms after the caller's words on */
  const run = (agentMs: number, stallMs?: number) =>
    call(definition, {
      transport: chatCompletions({ client, url: url(agentMs), assistantId: 'a' }),
      clock: new RealClock(),
      onProgress: ({ type }) => {
        if (type !== 'entry' || stallMs === undefined) return;
        const ms = stallMs;
        stallMs = undefined;
        setTimeout(() => block(ms), 50);
      },
    });

  it('never makes an agent of 100 ms fail, and passes it in the next attempt', async () => {
    await run(100);
    const stalled = await run(100, 300);
    expect(stalled).toMatchObject({
      outcome: 'error',
      score: null,
      failure: { code: 'tester_overloaded', fault: 'infrastructure', retryable: true },
      checks: [{ met: null }],
      reliability: { reliable: false },
    });
    const { measures, reliability } = stalled;
    expect(measures.latency.worst).toBeGreaterThan(300);
    expect(measures.latency.plusMinusMs).toBeGreaterThanOrEqual(measures.latency.worst! - 150);
    expect(reliability.worstStallMs).toBeGreaterThanOrEqual(300);
    expect(afterAttempt(stalled, [])).toMatchObject({ next: 'retry' });
    const time = new Date().toISOString();
    const again = await run(100);
    expect(again).toMatchObject({ outcome: 'passed', checks: [{ met: true }] });
    expect(afterAttempt(again, [attemptOf(stalled, { startedAt: time, endedAt: time })])).toMatchObject({
      next: 'end',
    });
  });

  it('does not excuse an agent that is clearly too slow', async () => {
    expect(await run(700, 100)).toMatchObject({ outcome: 'failed', checks: [{ met: false }] });
  });

  it('does not doubt an agent that is clearly fast enough', async () => {
    expect(await run(100, 60)).toMatchObject({ outcome: 'passed', checks: [{ met: true }] });
  });
});
