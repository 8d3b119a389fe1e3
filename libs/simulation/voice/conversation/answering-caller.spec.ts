import { type DefinitionInput, normalise } from '../../../evaluation-definition/index.js';
import { executeCall, VirtualClock } from '../../index.js';
import {
  type Act,
  FixtureAgent,
  type FixtureScript,
  message,
  READY,
  says,
} from '../../transports/wires/testing/fixture-double/agent.js';
import fixtureEntry from '../../transports/wires/testing/fixture-wire/wire.js';
import { virtualCalls } from '../call/virtual-call.js';
import type { TurnAnswer } from '../facts/turn-question.js';
import { SOUNDS } from '../testing/virtual-calls.js';
import type { VoiceTransport } from '../wire/voice-transport.js';
import { AnsweringCaller } from './answering-caller.js';

const GREETING: Act = { afterMs: 200, send: says(1, 'Bella Vista, how can I help?', 900) };

/** Sentences after the first are ready so long after it. */
const lateRests = (ms: number, clock: VirtualClock, transport: VoiceTransport): VoiceTransport => ({
  ...transport,
  call: ({ onTurn, ...options }) =>
    transport.call({
      ...options,
      ...(onTurn && {
        onTurn: (question, answer) =>
          onTurn(question, (given) => ('rest' in given ? void clock.schedule(ms, () => answer(given)) : answer(given))),
      }),
    }),
});

/** A call over a wire with words, on virtual time. @param model plays the caller of a definition without a script */
function call(
  definition: DefinitionInput,
  script: FixtureScript,
  model?: ReturnType<typeof slowModel>,
  restAfterMs = 0,
) {
  const clock = new VirtualClock();
  const agents: FixtureAgent[] = [];
  const result = executeCall({
    definition: normalise(definition),
    scenario: { scenarioText: 'You want a table.' },
    personality: { name: 'Caller' },
    transport: lateRests(
      restAfterMs,
      clock,
      virtualCalls({
        wire: fixtureEntry({ callId: 'c-1', secrets: [] }),
        lineRate: 16_000,
        agent: (socket) => {
          const agent = new FixtureAgent(socket, script);
          agents.push(agent);
          return agent;
        },
      }),
    ),
    clock,
    voice: { sounds: SOUNDS, voice: 'any' },
    ...(model && { model }),
  });
  return result.then((done) => ({ ...done, received: agents[0]!.received }));
}

/** A model on the call's clock: says lines one after the other, and again what was not spoken. */
const slowModel = (thinkMs: number, lines: readonly object[] = LINES) =>
  ({
    model: 'double',
    prices: undefined,
    ask: async (messages: readonly { role: string }[], { clock }: { clock: VirtualClock }) => {
      const said = messages.filter(({ role }) => role === 'assistant').length;
      await clock.sleep(thinkMs);
      return JSON.stringify(lines[Math.min(said, lines.length - 1)]);
    },
  }) as any;
const LINES = [
  { say: 'A table for four people, please.', end: null },
  { say: 'My name is Caller.', end: null },
  { say: 'Thank you, goodbye.', end: 'It is booked' },
];

const SCRIPT: DefinitionInput = {
  script: [
    { say: 'A table, please.' },
    {
      answers: [
        { when: { says: { text: 'how many' } }, say: 'Four.' },
        { when: { says: { text: 'name' } }, say: 'Rossi.' },
      ],
      until: { says: { text: 'booked' } },
      otherwise: 'Pardon?',
    },
    { say: 'Thank you.', when: { says: { text: 'booked' } } },
    { end: 'Done' },
  ],
};
const answer = (item: number, text: string, afterMs = 200): Act => ({ afterMs, send: says(item, text, 900) });
const linesOf = ({ timeline }: Awaited<ReturnType<typeof call>>) =>
  timeline.flatMap((entry) => (entry.type === 'speech' ? [`${entry.speaker}: ${entry.text}`] : []));

describe('a scripted caller over a voice call with words', () => {
  it('answers what the agent asks, in any order', async () => {
    const result = await call(SCRIPT, {
      onHello: [READY, GREETING],
      onLine: [
        [answer(2, 'Your name, please?')],
        [answer(3, 'And for how many?')],
        [answer(4, 'Lovely weather.')],
        [answer(5, 'It is booked.')],
        [answer(6, 'Goodbye.')],
      ],
    });
    expect(linesOf(result).filter((line) => line.startsWith('caller'))).toEqual([
      'caller: A table, please.',
      'caller: Rossi.',
      'caller: Four.',
      'caller: Pardon?',
      'caller: Thank you.',
    ]);
    expect(result).toMatchObject({ outcome: 'passed', end: { code: 'caller_done' } });
    const caller = result.timeline.filter((entry) => entry.type === 'speech' && entry.speaker === 'caller');
    expect(caller[1]).toMatchObject({ script: { step: 1, answers: [1] } });
    expect(caller[3]).toMatchObject({ script: { step: 1, otherwise: true } });
  });

  it('is an error of the tester if the words do not arrive within three seconds', async () => {
    const [item, ...audio] = says(2, 'Your name, please?', 900);
    const wordless: Act = { afterMs: 200, send: [item!, ...audio.slice(0, -1)] };
    const result = await call(SCRIPT, { onHello: [READY, GREETING], onLine: [[wordless]] });
    expect(result).toMatchObject({ outcome: 'error', failure: { code: 'stt_slow', retryable: true } });
  });

  it('waits for words that arrive later, and counts that time as its own', async () => {
    const [item, ...audio] = says(2, 'Your name, please?', 900);
    const late: Act[] = [
      { afterMs: 200, send: [item!, ...audio.slice(0, -1)] },
      { afterMs: 4_000, send: [message('said', { item: 2, text: 'Your name, please?' })] },
    ];
    const result = await call(SCRIPT, {
      onHello: [READY, GREETING],
      onLine: [late, [answer(3, 'It is booked.')], [answer(4, 'Bye.')]],
    });
    expect(linesOf(result)).toContain('caller: Rossi.');
    const [thought] = result.voice!.voice.callerThinking!;
    expect(thought).toMatchObject({ turn: 2, attempts: 1, reason: 'words' });
    expect(thought!.endMs - thought!.startMs).toBeGreaterThan(1_500);
    expect(result.voice!.voice.deadAir.over3s).toBe(0);
  });
});

describe('a generated caller over a voice call with words', () => {
  const healthy: FixtureScript = {
    onHello: [READY, GREETING],
    onLine: [[answer(2, 'Your name, please?')], [answer(3, 'It is booked.')], [answer(4, 'Goodbye.')]],
  };

  /** Does not take the caller's "um" for a line. */
  const patient: FixtureScript = { ...healthy, minLineMs: 700 };

  it('waits for its model, and no latency includes that time', async () => {
    const result = await call({}, healthy, slowModel(800));
    const { latencies, callerThinking, deadAir } = result.voice!.voice;
    // The double notices the end of a line after 500 ms of silence, and answers 200 ms later.
    for (const { heardMs } of latencies) expect(Math.abs(heardMs! - 700)).toBeLessThanOrEqual(25);
    expect(latencies).toHaveLength(3);
    expect(callerThinking!.map(({ startMs, endMs }) => Math.round((endMs - startMs) / 50) * 50)).toEqual([
      800, 800, 800,
    ]);
    expect(callerThinking!.every(({ reason }) => reason === 'model')).toBe(true);
    expect(deadAir.over3s).toBe(0);
    expect(result).toMatchObject({ outcome: 'passed', end: { code: 'caller_done', reason: 'It is booked' } });
  });

  it('does not blame an agent that asks whether it is still there, and gives it all that was said', async () => {
    const prompt: Act = { afterMs: 200 + 900 + 3_000, send: says(3, 'Are you still there?', 900) };
    const heard: string[] = [];
    const model = slowModel(4_500);
    const { ask } = model;
    model.ask = (messages: { content: string }[], options: never) => {
      heard.push(messages.at(-1)!.content);
      return ask(messages, options);
    };
    const result = await call(
      { checks: [{ type: 'max_silence_ms', ms: 2_500 }] },
      {
        onHello: [READY, GREETING],
        onLine: [[answer(2, 'Your name, please?'), prompt], [answer(4, 'It is booked.')], [answer(5, 'Bye.')]],
      },
      model,
    );
    expect(result.outcome).toBe('passed');
    const prompted = result.timeline.filter((entry) => entry.type === 'speech' && entry.promptedByWait);
    expect(prompted).toMatchObject([{ text: 'Are you still there?' }]);
    expect(heard).toContainEqual(expect.stringContaining('Your name, please? Are you still there?'));
    expect(result.voice!.voice.callerThinking!.map(({ attempts }) => attempts)).toContain(2);
    expect(result.voice!.voice.deadAir.over3s).toBe(0);
  });

  it('does not count its thinking in the length of the call', async () => {
    const detailOf = async (thinkMs: number) => {
      const checks = [{ type: 'max_duration_ms', ms: 1 }] as const;
      const [check] = (await call({ checks }, healthy, slowModel(thinkMs))).checks;
      return check!.detail;
    };
    const lengthOf = async (thinkMs: number) => (await detailOf(thinkMs)).replace(/ without the \d+ ms .* thought/, '');
    expect(await lengthOf(4_000)).toBe(await lengthOf(20));
  });

  it('names the thinking time that a check leaves out, so both add up to the length of the call', async () => {
    const checks = [{ type: 'max_duration_ms', ms: 1 }] as const;
    const { checks: results, measures } = await call({ checks }, healthy, slowModel(4_000));
    const [, lasted, thought] = /lasted (\d+) ms without the (\d+) ms in which/.exec(results[0]!.detail)!;
    expect(Number(thought)).toBeGreaterThan(11_000);
    expect(Number(lasted) + Number(thought)).toBe(Math.round(measures.durationMs));
  });

  it('judges an agent that says nothing for nine seconds and then asks by its wait', async () => {
    const late: Act = { afterMs: 8_500, send: says(2, 'Are you still there?', 900) };
    const result = await call(
      { checks: [{ type: 'max_silence_ms', ms: 7_000 }] },
      { onHello: [READY, GREETING], onLine: [[late], [answer(3, 'It is booked.')], [answer(4, 'Bye.')]] },
      slowModel(800),
    );
    expect(result.timeline.some((entry) => entry.type === 'speech' && entry.promptedByWait)).toBe(false);
    expect(result.voice!.voice.latencies[0]).toMatchObject({ heardMs: 8_000, answered: false });
    expect(result.checks).toMatchObject([{ met: false }]);
    expect(result.outcome).toBe('failed');
  });

  it('lets the platform signal that the caller is present while it thinks', async () => {
    const { received } = await call({}, healthy, slowModel(2_500));
    const signs = received.filter(({ type }) => type === 'thinking').map(({ on }) => on);
    // At its beginning, after one and two seconds, and at its end: before each of three lines.
    expect(signs).toEqual(Array.from({ length: 3 }, () => [true, true, true, false]).flat());
    expect(
      (await call({ script: [{ say: 'Hello.' }] }, healthy)).received.some(({ type }) => type === 'thinking'),
    ).toBe(false);
  });

  it('says "um" after two and a half seconds of thinking, once before each line, which takes no turn and counts in no measure', async () => {
    const without = await call({}, patient, slowModel(4_000));
    const result = await call({ fillers: true }, patient, slowModel(4_000));
    const sounds = result.timeline.filter((entry) => entry.type === 'sound');
    expect(sounds).toHaveLength(3);
    expect(new Set(sounds.map(({ name }) => name))).toEqual(new Set(['Um', 'Let me see']));
    const { callerThinking, latencies, interruptions, collisions, deadAir, backchannels } = result.voice!.voice;
    sounds.forEach((sound, index) => {
      expect(sound).toMatchObject({ kind: 'filler', possible: true, turn: index });
      expect(Math.abs(sound.start - callerThinking![index]!.startMs - 2_500)).toBeLessThanOrEqual(20);
    });
    expect(linesOf(result)).toEqual(linesOf(without));
    expect(latencies.map(({ heardMs }) => heardMs)).toEqual(
      without.voice!.voice.latencies.map(({ heardMs }) => expect.closeTo(heardMs!, -1.3)),
    );
    expect({ interruptions, collisions, backchannels }).toEqual({ interruptions: [], collisions: 0, backchannels: [] });
    expect(deadAir.over3s).toBe(0);
    expect(result.outcome).toBe('passed');
  });

  it('delays its line until its "um" is over, and says no "um" if it thinks for less time', async () => {
    const late = await call({ fillers: true }, patient, slowModel(2_510));
    const [um] = late.timeline.filter((entry) => entry.type === 'sound');
    const [line] = late.timeline.filter((entry) => entry.type === 'speech' && entry.speaker === 'caller');
    expect(line!.start).toBeGreaterThanOrEqual(um!.end);
    const quick = await call({ fillers: true }, patient, slowModel(2_400));
    expect(quick.timeline.some(({ type }) => type === 'sound')).toBe(false);
  });

  it('is the same call when it is repeated, fillers included', async () => {
    const [first, second] = [
      await call({ fillers: true }, patient, slowModel(4_000)),
      await call({ fillers: true }, patient, slowModel(4_000)),
    ];
    expect(JSON.stringify(second.timeline)).toBe(JSON.stringify(first.timeline));
    const seeds = [1, 2, 3, 4].map((seed) => call({ fillers: true, conditions: { seed } }, patient, slowModel(4_000)));
    const names = (await Promise.all(seeds)).map(({ timeline }) =>
      timeline.flatMap((entry) => (entry.type === 'sound' ? [entry.name] : [])).join(),
    );
    expect(new Set(names).size).toBeGreaterThan(1);
  });

  it('has a prompt that says that its words are spoken', async () => {
    const instructions: string[] = [];
    const model = slowModel(0);
    const { ask } = model;
    model.ask = (messages: { content: string }[], options: never) => {
      instructions.push(messages[0]!.content);
      return ask(messages, options);
    };
    await call({}, healthy, model);
    expect(instructions[0]).toContain('Your words are spoken aloud');
  });

  it('is an error of the tester if its model takes more than ten seconds', async () => {
    const result = await call({}, healthy, slowModel(11_000));
    expect(result).toMatchObject({ outcome: 'error', failure: { code: 'caller_slow', retryable: true } });
  });
});

describe('a generated line of several sentences', () => {
  const TWO = [
    { say: 'Good evening to you. A table for four people, please.', end: null },
    { say: 'Thank you very much, and goodbye to you.', end: 'It is booked' },
  ];
  const script: FixtureScript = {
    onHello: [READY, GREETING],
    onLine: [[answer(2, 'It is booked.')], [answer(3, 'Goodbye.')], [answer(4, 'Goodbye again.')]],
  };
  const callerLines = ({ timeline }: Awaited<ReturnType<typeof call>>) =>
    timeline.flatMap((entry) => (entry.type === 'speech' && entry.speaker === 'caller' ? [entry] : []));

  it('begins when the first sentence is ready, and continues without a gap', async () => {
    const result = await call({}, script, slowModel(500, TWO), 700);
    const [line] = callerLines(result);
    expect(line!.text).toBe('Good evening to you. A table for four people, please.');
    // The thinking ends with the first sentence: 500 ms of the model.
    const [thought] = result.voice!.voice.callerThinking!;
    expect(Math.abs(thought!.endMs - thought!.startMs - 500)).toBeLessThanOrEqual(20);
    const [first, second] = result.voice!.lanes.caller;
    expect(second!.startMs - first!.endMs).toBeCloseTo(250, 0);
    expect(result.voice!.voice.latencies).toHaveLength(2);
    expect(result).toMatchObject({ outcome: 'passed', end: { reason: 'It is booked' } });
  });

  it('pauses if the second sentence is late, which is its own pause rather than a wait for the agent', async () => {
    // The double would answer after 500 ms of silence.
    const slow: FixtureScript = { ...script, minLineMs: 1_200 };
    const result = await call({}, slow, slowModel(500, TWO), 2_000);
    expect(callerLines(result).map(({ text }) => text)).toEqual([
      'Good evening to you.',
      'A table for four people, please.',
      'Thank you very much, and goodbye to you.',
    ]);
    const { callerThinking, latencies, deadAir, interruptions } = result.voice!.voice;
    expect(callerThinking![1]).toMatchObject({ reason: 'speech' });
    expect(Math.abs(callerThinking![1]!.endMs - callerThinking![1]!.startMs - 1_000)).toBeLessThanOrEqual(20);
    expect(latencies.map(({ turn }) => turn)).toEqual([2, 3]);
    expect({ interruptions, over3s: deadAir.over3s }).toEqual({ interruptions: [], over3s: 0 });
  });

  it('stops if the agent speaks before its late sentence, and the model reads the spoken part', async () => {
    const prompts: string[] = [];
    const model = slowModel(500, TWO);
    const { ask } = model;
    model.ask = (messages: { content: string }[], options: never) => {
      prompts.push(JSON.stringify(messages.map(({ content }) => content)));
      return ask(messages, options);
    };
    const result = await call({}, script, model, 2_500);
    expect(callerLines(result).map(({ text }) => text)).toEqual([
      'Good evening to you.',
      'Thank you very much, and goodbye to you.',
    ]);
    expect(prompts.at(-1)).toContain('Good evening to you.');
    expect(prompts.at(-1)).not.toContain('A table for four');
    const { latencies, interruptions, collisions } = result.voice!.voice;
    expect(latencies.map(({ turn }) => turn)).toEqual([2]);
    expect({ interruptions, collisions }).toEqual({ interruptions: [], collisions: 0 });
  });

  it('is the same call when it is repeated', async () => {
    const [first, second] = [
      await call({}, script, slowModel(500, TWO), 2_500),
      await call({}, script, slowModel(500, TWO), 2_500),
    ];
    expect(JSON.stringify([second.timeline, second.voice])).toBe(JSON.stringify([first.timeline, first.voice]));
  });
});

describe('AnsweringCaller', () => {
  it('answers even if its decision is ready only when its time runs out', async () => {
    const clock = new VirtualClock();
    const answers: TurnAnswer[] = [];
    const answering = new AnsweringCaller({
      caller: {
        kind: 'generated',
        next: () => ({ type: 'hang_up', code: 'caller_done', reason: 'Done' }),
        ahead: () => undefined,
        retract: () => undefined,
      },
      speak: () => Promise.reject(new Error('There is no rest')),
      prepare: () => clock.sleep(10_000).then(() => ({ steps: [], isComplete: true })),
      clock,
      signal: new AbortController().signal,
    });
    answering.ask({ turn: 1, attempt: 1, isSilent: false, utterances: [] }, (answer) => answers.push(answer));
    await clock.sleep(10_100);
    expect(answers).toEqual([{ turn: 1, attempt: 1, reason: 'speech', steps: [], isComplete: true }]);
  });
});
