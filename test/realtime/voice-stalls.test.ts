import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { normalise } from '../../libs/evaluation-definition/index.js';
import { OutboundClient } from '../../libs/outbound-http/index.js';
import { type CallResult, executeCall, mediaThreads, transportTo } from '../../libs/simulation/index.js';
import { block, useFaultyThreads } from '../../libs/simulation/testing/faulty-threads.js';
import { FliteEngine, soundOf } from '../../libs/speech/index.js';
import { sample } from '../../libs/statistics/testing/sample.js';
import { programArguments } from '../support/program.js';
import { until } from '../support/until.js';

const ROOT = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');
const STALL_MS = 300;
const DEFINITION = normalise({
  script: [
    { say: 'When are you open, where are you, and can I park there?' },
    { backchannel: 'mm-hmm', afterMs: 1_500 },
    { say: 'Thank you, goodbye.' },
    { waitSeconds: 5 },
    { end: 'The agent does not hang up' },
  ],
  checks: [
    { name: 'Answers in time', type: 'max_latency_ms', ms: 2_500 },
    { name: 'Keeps speaking', type: 'keeps_speaking' },
    { name: 'Speaks without gaps', type: 'max_choppiness', perMinute: 3 },
    { name: 'Never interrupts', type: 'max_interruptions', count: 0 },
    { name: 'Keeps to the protocol', type: 'clean_protocol' },
    { name: 'Hangs up', type: 'ends_by', by: 'agent' },
  ],
});

function blockThisThread(): void {
  const until = performance.now() + STALL_MS;
  while (performance.now() < until);
}

describe('a tester that stalls during a call over sockets', () => {
  useFaultyThreads();
  const engine = new FliteEngine();
  let agent: ChildProcess;
  let url = '';

  // In a process of its own, so that only the tester stalls.
  beforeAll(async () => {
    agent = spawn(process.execPath, [...programArguments('test/simulators/agent/main.ts'), '--port', '0'], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    agent.stdout!.on('data', (text: Buffer) => (output += text.toString()));
    await until('the agent listens', () => /POST http\S+\/voice /.test(output), 60_000);
    url = /POST (http\S+\/voice) /.exec(output)![1]!;
    // It answers its first call when its voice is prepared.
    await fetch(url, { method: 'POST', body: new URLSearchParams({ CallSid: `CA${'0'.repeat(32)}` }) });
  }, 180_000);
  afterAll(async () => {
    const exited = once(agent, 'exit');
    agent.kill();
    await exited;
    await engine.close();
  });

  /** @param stall called every two seconds of the call @param fault of the agent */
  async function call(stall: () => void, fault?: string): Promise<CallResult> {
    const address = fault === undefined ? url : url.replace('/voice', `/agents/booking:${fault}/voice`);
    const endpoint = {
      protocol: 'twilio-media-streams',
      url: address,
      headers: {},
      firstSpeaker: null,
      options: {},
    } as const;
    const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
    const done = new AbortController();
    const stalling = (async () => {
      while (!done.signal.aborted) {
        await sleep(2_000, undefined, { signal: done.signal }).catch(() => undefined);
        if (!done.signal.aborted) stall();
      }
    })();
    try {
      return await executeCall({
        definition: DEFINITION,
        scenario: { scenarioText: 'You ask three questions at once.' },
        personality: { name: 'Caller' },
        transport: transportTo(endpoint, {
          client,
          assistantId: 'a',
          phoneNumber: '',
          workspaceId: 'w-1',
          callId: randomUUID(),
        }),
        voice: {
          sounds: { synthesise: (request, signal) => engine.synthesise(request, signal), soundOf },
          voice: 'slt',
        },
      });
    } finally {
      done.abort();
      await stalling;
    }
  }

  /** No verdict is allowed only if the tester really stalled. */
  function judged({ outcome, failure, reliability, reason }: CallResult, wanted: 'passed' | 'failed') {
    const isNone = outcome === 'error' && failure?.code === 'tester_overloaded' && reliability.worstStallMs >= 25;
    return { isRight: outcome === wanted || isNone, outcome, code: failure?.code, reason };
  }

  async function expectNoWrongVerdict(): Promise<void> {
    const stalls: Record<string, () => void> = {
      'the media thread': () => mediaThreads.threads.forEach((thread) => block(thread, STALL_MS)),
      'the main thread': blockThisThread,
      'the speech thread': () =>
        void engine.synthesise({ text: 'Hello. '.repeat(100), voice: 'slt' }).catch(() => undefined),
    };
    const faults = ['choppy-sound', 'yields-to-any-sound', 'slow-answer'];
    const results = await Promise.all([
      ...Object.entries(stalls).map(async ([thread, stall]) => ({ thread, result: await call(stall) })),
      ...faults.map(async (fault) => ({ thread: fault, result: await call(() => undefined, fault) })),
    ]);
    for (const { thread, result } of results) {
      const found = judged(result, thread in stalls ? 'passed' : 'failed');
      expect({ thread, ...found }).toMatchObject({ thread, isRight: true });
    }
    // All calls share the media thread, whose stalls each of them notices.
    for (const { result } of results) expect(result.reliability.worstStallMs).toBeGreaterThan(200);
  }

  async function expectTheRightVerdict(): Promise<void> {
    const [healthy, faulty] = await Promise.all([call(blockThisThread), call(blockThisThread, 'yields-to-any-sound')]);
    expect(judged(healthy, 'passed')).toMatchObject({ isRight: true });
    expect(judged(faulty, 'failed')).toMatchObject({ isRight: true });
  }

  const stalling = [
    ['gives the right verdict when the main thread alone stalls', expectTheRightVerdict],
    [
      'fails no healthy agent and passes no faulty one, whichever of its threads stalls for 300 ms',
      expectNoWrongVerdict,
    ],
  ] as const;
  it.each(sample(stalling))('%s', (_, expectVerdict) => expectVerdict(), 180_000);
});
