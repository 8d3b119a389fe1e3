import { type CallProgress, type CallResult, inProcess, VirtualClock } from '../index.js';
import { agentSaying, call } from '../testing/calls.js';

const BOOKING = {
  script: [
    { say: 'A table, please.' },
    {
      answers: [
        { when: { says: { text: 'how many' } }, say: 'Four of us.' },
        { when: { says: { pattern: '(?i)name' } }, say: 'Rossi.' },
      ],
      until: { says: { text: 'booked' } },
      otherwise: 'Pardon?',
    },
    { when: { says: { text: 'anything else' } }, say: 'No, thanks.' },
    { end: 'The table is booked' },
  ],
} as const;

const shown = (result: Awaited<ReturnType<typeof call>>) =>
  result.timeline.map((entry) => (entry.type === 'speech' ? `${entry.speaker}: ${entry.text}` : entry.type));

describe('scripted call', () => {
  it('executes the documented steps and returns the result', async () => {
    const transport = agentSaying(
      [
        'Under which NAME, and for how   many people?'.replace('how   many', 'how\n many'),
        'Hm.',
        [
          { say: 'Let me see. ' },
          { tool: 'book_table', arguments: { people: 4, extra: { a: [1] } } },
          { say: 'Booked. Anything else?' },
        ],
        'Goodbye.',
      ],
      { delayMs: 200 },
    );
    const result = await call(
      {
        ...BOOKING,
        checks: [
          { type: 'says', text: 'BOOKED' },
          { type: 'calls_tool', tool: 'book_table', arguments: { people: 4 } },
          { type: 'ends_by', by: 'caller' },
          { type: 'max_latency_ms', ms: 199, required: false },
        ],
      },
      { transport },
    );
    expect(shown(result)).toEqual([
      'caller: A table, please.',
      'agent: Under which NAME, and for how\n many people?',
      'caller: Four of us. Rossi.',
      'agent: Hm.',
      'caller: Pardon?',
      'agent: Let me see.',
      'tool_call',
      'agent: Booked. Anything else?',
      'caller: No, thanks.',
      'agent: Goodbye.',
      'end',
    ]);
    expect(result).toMatchObject({
      outcome: 'passed',
      score: 75,
      end: { by: 'caller', code: 'caller_done', reason: 'The table is booked' },
      failure: null,
      invalidity: null,
      reason:
        'Not met: Every answer starts within 199 ms (The slowest answer started after 200 ms; the limit is 199, not required).',
      measures: {
        durationMs: 800,
        turns: 4,
        latency: { count: 4, p50: 200, p90: null, p95: null, p99: null, worst: 200 },
        timeToFirstWordMs: 200,
        longestSilenceMs: 200,
        toolCalls: 1,
        words: { caller: 10, agent: 16 },
      },
      versions: { transport: 'in-process', caller: 'scripted', model: null },
    });
    expect(JSON.parse(JSON.stringify(result))).toEqual(result);
  });

  it('ends after the last step, and leaves answers without until at the first turn that matches none', async () => {
    const script = [
      { answers: [{ when: { notSays: { text: 'hello' } }, say: 'Hello?' }] },
      { when: { says: { text: 'nobody says this' } }, end: 'not reached' },
    ];
    const result = await call({ script }, { transport: agentSaying(['Hello!']) });
    expect(shown(result)).toEqual(['caller: Hello?', 'agent: Hello!', 'end']);
    expect(result.end).toEqual({ by: 'caller', code: 'script_over', reason: 'The script ended' });
    expect(result).toMatchObject({ outcome: 'passed', score: 100 });
  });

  it('lets the agent speak first, and waits silently', async () => {
    const clock = new VirtualClock();
    const script = [{ waitSeconds: 5 }, { when: { says: { text: 'welcome' } }, say: 'Hi.' }];
    const transport = agentSaying(['Welcome!', 'Bye.'], { agentSpeaksFirst: true, delayMs: 100 });
    const result = await call({ script, checks: [{ type: 'max_silence_ms', ms: 100 }] }, { transport, clock });
    expect(result.timeline.map(({ type, start, end, turn }) => [type, start, end, turn])).toEqual([
      ['speech', 100, 100, 0],
      ['silence', 100, 5_100, 0],
      ['speech', 5_100, 5_100, 1],
      ['speech', 5_200, 5_200, 1],
      ['end', 5_200, 5_200, 1],
    ]);
    expect(result.outcome).toBe('passed');
    // The caller's own wait does not count as silence.
    expect(result.measures.longestSilenceMs).toBe(100);
  });

  it("repeats the caller's line after a silence, and hangs up after two in a row", async () => {
    const script = [{ say: 'One.' }, { say: 'Two.' }, { say: 'Three.' }];
    const transport = agentSaying(['Yes?', ' ', 'Sorry. Yes?', '', ''], { delayMs: 50 });
    const result = await call(
      {
        script,
        checks: [
          { type: 'says', text: 'yes' },
          { type: 'max_latency_ms', ms: 1_000, required: false },
        ],
      },
      { transport, patienceMs: 3_000 },
    );
    expect(shown(result)).toEqual([
      'caller: One.',
      'agent: Yes?',
      'caller: Two.',
      'silence',
      'caller: Two.',
      'agent: Sorry. Yes?',
      'caller: Three.',
      'silence',
      'caller: Three.',
      'silence',
      'end',
    ]);
    expect(result).toMatchObject({ outcome: 'failed', score: 50, end: { by: 'caller', code: 'agent_silent' } });
    expect(result.reason).toContain('the agent did not answer twice in a row');
    expect(result.checks[1]).toMatchObject({
      met: false,
      detail: 'The slowest answer started after 3000 ms; the limit is 1000',
    });
  });

  it('ends at its limits', async () => {
    const script = [
      { answers: [{ when: { says: { text: 'x' } }, say: 'x' }], until: { says: { text: 'y' } }, otherwise: 'Again.' },
    ];
    const talkative = () =>
      agentSaying(
        Array.from({ length: 99 }, () => 'No.'),
        { delayMs: 400 },
      );
    const turns = await call(
      { script, maxTurns: 3, checks: [{ type: 'max_turns', turns: 2 }] },
      { transport: talkative() },
    );
    expect(turns).toMatchObject({
      outcome: 'failed',
      end: { by: 'tester', code: 'max_turns' },
      measures: { turns: 3, durationMs: 1_200 },
    });
    const duration = await call(
      { script, maxDurationSeconds: 1, checks: [{ type: 'ends_by', by: 'caller' }] },
      { transport: talkative() },
    );
    expect(duration).toMatchObject({
      outcome: 'failed',
      end: { code: 'max_duration' },
      measures: { durationMs: 1_000, turns: 2 },
    });
  });

  it('ends as a failure when the agent is silent until the maximum duration', async () => {
    const script = [{ say: 'Hello.' }, { say: 'And?' }];
    const checks = [{ type: 'never_says', text: 'goodbye' } as const];
    const stalling = (delayMs: number) =>
      inProcess(async function* ({ messages, clock, signal }) {
        yield { say: 'Let me ' };
        if (messages.length > 1) await clock.sleep(delayMs, signal);
        yield { say: 'see.' };
      });
    const stalled = await call({ script, checks, maxDurationSeconds: 20 }, { transport: stalling(60_000) });
    expect(stalled).toMatchObject({
      outcome: 'error',
      answeredTurns: 1,
      // Only an agent that is reached over a network has one.
      exchange: null,
      failure: { code: 'timeout', retryable: true },
      end: { by: 'tester', code: 'failure' },
      timeline: [{}, {}, {}, { text: 'Let me', cut: true }, { type: 'error' }, {}],
    });
    expect(stalled.reason).toBe(
      "The agent's response was not complete in time: nothing for 20 s, until the maximum duration of the call.",
    );
    const brief = await call({ script, checks, maxDurationSeconds: 9 }, { transport: stalling(60_000) });
    expect(brief).toMatchObject({ outcome: 'passed', end: { code: 'max_duration' } });
    const slow = await call({ script, checks, maxDurationSeconds: 60 }, { transport: stalling(40_000) });
    expect(slow).toMatchObject({ outcome: 'passed', end: { code: 'script_over' } });
  });

  it('records that the agent hangs up', async () => {
    const transport = agentSaying([
      [{ tool: 'end_call', arguments: { reason: 'Closed today' } }, { say: 'We are closed. Bye.' }],
    ]);
    const result = await call(
      { script: [{ say: 'Hello.' }, { say: 'And?' }], checks: [{ type: 'ends_by', by: 'agent' }] },
      { transport },
    );
    expect(shown(result)).toEqual(['caller: Hello.', 'tool_call', 'agent: We are closed. Bye.', 'end']);
    expect(result).toMatchObject({
      outcome: 'passed',
      end: { by: 'agent', code: 'agent_hung_up', reason: 'Closed today' },
    });
  });

  it('reports its progress and stops when aborted', async () => {
    const progress: CallProgress[] = [];
    const onProgress = (step: CallProgress) => progress.push(step);
    await call({ script: [{ say: 'Hello.' }] }, { transport: agentSaying(['Hi.']), onProgress });
    expect(progress.map((step) => (step.type === 'phase' ? step.phase : step.entry.type))).toEqual([
      'talking',
      'speech',
      'speech',
      'end',
      'checking',
    ]);
    const controller = new AbortController();
    const clock = new VirtualClock();
    clock.schedule(1_500, () => controller.abort(new Error('cancelled')));
    const slow = agentSaying(['Hi.'], { delayMs: 10_000 });
    await expect(
      call({ script: [{ say: 'Hello.' }] }, { transport: slow, clock, signal: controller.signal }),
    ).rejects.toThrow('cancelled');
    expect(clock.now()).toBe(1_500);
    await expect(call({ script: [{ say: 'x' }] }, { transport: slow, signal: controller.signal })).rejects.toThrow(
      'cancelled',
    );
  });

  it('reports the transcript of a call that was aborted, with nothing decided', async () => {
    const aborted: CallResult[] = [];
    const controller = new AbortController();
    const clock = new VirtualClock();
    const transport = inProcess(async function* ({ messages, clock: time, signal }) {
      yield { say: messages.length > 1 ? 'One moment' : 'Welcome.' };
      if (messages.length > 1) await time.sleep(10_000, signal);
    });
    clock.schedule(8_000, () => controller.abort(new Error('shutting down')));
    const options = {
      transport,
      clock,
      signal: controller.signal,
      onAborted: (result: CallResult) => aborted.push(result),
    };
    const script = [{ say: 'Hello.' }, { say: 'A table.' }];
    await expect(call({ script, checks: [{ type: 'says', text: 'x' }] }, options)).rejects.toThrow('shutting down');
    expect(aborted).toMatchObject([
      { outcome: 'error', failure: { code: 'interrupted' }, checks: [], end: { by: 'tester', code: 'failure' } },
    ]);
    expect(aborted.map(shown)).toEqual([
      ['caller: Hello.', 'agent: Welcome.', 'caller: A table.', 'agent: One moment', 'error', 'end'],
    ]);
  });

  it('replaces unstorable characters, and joins a surrogate pair that was split between chunks', async () => {
    const transport = agentSaying([
      [{ say: 'a\u0000b \ud83d' }, { say: '\ude00 \udc00' }, { tool: 't', arguments: { x: '\u0000' } }],
    ]);
    const result = await call({ script: [{ say: 'Hello.' }] }, { transport });
    expect(result.timeline[1]).toMatchObject({ text: 'a\uFFFDb 😀 \uFFFD' });
    expect(result.timeline[2]).toMatchObject({ arguments: { x: '\uFFFD' } });
  });

  it('measures and checks a very long answer in linear time', async () => {
    const babble = ['.'.repeat(200_000), `a${'\u0301\u0327'.repeat(100_000)}`, '? '.repeat(100_000)];
    const begun = performance.now();
    const result = await call(
      {
        script: [{ say: 'Hello.' }, { when: { notSays: { text: 'hello' } }, say: 'And?' }, { say: 'Bye.' }],
        checks: [{ type: 'never_says', text: 'a\u0301b' }],
      },
      { transport: agentSaying(babble) },
    );
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(result).toMatchObject({
      outcome: 'error',
      failure: { code: 'check_undecided' },
      measures: { turns: 3, words: { agent: 1 } },
    });
    expect(result.timeline[3]).toMatchObject({ text: `a${'\u0301\u0327'.repeat(15)}` });
  });

  it('is an error if no criterion, or a required one, could not be decided', async () => {
    const criteria = [{ text: 'The agent is polite.' }];
    const alone = await call({ script: [{ say: 'Hello.' }], criteria }, { transport: agentSaying(['Hi.']) });
    expect(alone).toMatchObject({
      outcome: 'error',
      score: null,
      failure: { code: 'nothing_judged', retryable: false },
    });
    const checks = [{ type: 'says', text: 'hi' } as const];
    const both = await call({ script: [{ say: 'Hello.' }], criteria, checks }, { transport: agentSaying(['Hi.']) });
    expect(both).toMatchObject({
      outcome: 'error',
      score: null,
      failure: { code: 'nothing_judged' },
      criteria: [{ verdict: 'not_judged', reason: 'No language model is configured' }],
    });
    const optional = await call(
      { script: [{ say: 'Hello.' }], criteria: [{ text: 'The agent is polite.', required: false }], checks },
      { transport: agentSaying(['Hi.']) },
    );
    expect(optional).toMatchObject({ outcome: 'passed', score: 100 });
    expect(optional.reason).toContain('Not decided and not counted: The agent is polite.');
    const unplayed = await call({}, { transport: agentSaying(['Hi.']) });
    expect(unplayed).toMatchObject({ outcome: 'error', failure: { code: 'no_language_model', retryable: false } });
  });

  it('is deterministic, also with a thousand calls on one clock', async () => {
    const clock = new VirtualClock();
    const one = () =>
      call(
        { ...BOOKING, checks: [{ type: 'says', text: 'booked' }] },
        {
          transport: agentSaying(['How many?', 'Name?', 'Booked. Anything else?', 'Bye.'], { delayMs: 500 }),
          clock,
        },
      );
    const results = await Promise.all(Array.from({ length: 1_000 }, one));
    expect(clock.now()).toBe(2_000);
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
    expect(results[0]).toMatchObject({ outcome: 'passed', measures: { turns: 4, latency: { p50: 500 } } });
  });
});
