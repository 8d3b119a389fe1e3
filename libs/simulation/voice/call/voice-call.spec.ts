import { type DefinitionInput, normalise } from '../../../evaluation-definition/index.js';
import { afterAttempt, type CallResult, executeCall, type VoiceOptions, type VoiceTransport } from '../../index.js';
import { CallFailure } from '../../timeline/failure.js';
import { rawWire } from '../testing/raw-wire.js';
import { collected, cued, SOUNDS, talker } from '../testing/virtual-calls.js';
import { virtualCalls, type VirtualCallOptions } from './virtual-call.js';

const TWENTY = 'A table for four ...';
const required = { required: true, weight: 1 };

function call(
  definition: DefinitionInput,
  agent: VirtualCallOptions['agent'],
  { stalls, transport, ...voice }: Partial<VoiceOptions & VirtualCallOptions & { transport: VoiceTransport }> = {},
): Promise<CallResult> {
  return executeCall({
    definition: normalise(definition),
    scenario: { scenarioText: 'You want a table.' },
    personality: { name: 'Caller' },
    transport: transport ?? virtualCalls({ wire: rawWire, agent, ...(stalls && { stalls }) }),
    voice: { sounds: SOUNDS, voice: 'any', ...voice },
  });
}

describe('executeCall of a voice call', () => {
  it('records heard speech on the timeline', async () => {
    const script = [
      { say: TWENTY },
      { backchannel: 'mm-hmm', afterMs: 500 },
      { say: 'Stop it, please.', bargeIn: { afterMs: 1_000 } },
      { press: '1' },
    ] as const;
    const agent = cued(
      { atMs: 200, playMs: 600 },
      { atMs: 3_000, playMs: 5_000 },
      { atMs: 4_300, clear: true },
      { atMs: 5_300, playMs: 2_000 },
    );
    const result = await call({ script }, agent);
    const shown = result.timeline.map((entry) => {
      const { type, start, turn } = entry;
      const who = 'speaker' in entry ? entry.speaker : '';
      return [type, who, Math.round(start), turn, 'text' in entry ? entry.text : ''];
    });
    expect(shown).toEqual([
      ['speech', 'agent', 200, 0, ''],
      ['speech', 'caller', 1_500, 1, TWENTY],
      ['speech', 'agent', 3_000, 1, ''],
      ['sound', 'caller', 3_500, 1, ''],
      ['speech', 'caller', 4_000, 2, 'Stop it, please.'],
      ['speech', 'agent', 5_300, 2, ''],
      ['sound', 'caller', 8_000, 2, ''],
      ['silence', '', expect.any(Number), 2, ''],
      ['end', '', expect.any(Number), 2, ''],
    ]);
    expect(result.timeline[4]).toMatchObject({ script: { step: 2 }, bargeIn: { afterMs: 1_000, possible: true } });
    expect(result.timeline[0]).toMatchObject({ words: 'unknown' });
    expect(result.answeredTurns).toBe(3);
    expect(result.outcome).toBe('passed');
  });

  it('measures latency from the end of the caller’s speech to the agent’s onset', async () => {
    const result = await call({ script: [{ say: TWENTY }, { say: TWENTY }] }, talker({ delayMs: 700 }));
    expect(result.measures.latency).toMatchObject({ count: 2, p50: expect.closeTo(700, -1) });
    expect(result.voice?.voice.latencies.map(({ heardMs }) => heardMs)).toEqual([
      expect.closeTo(700, -1),
      expect.closeTo(700, -1),
    ]);
    expect(result.measures.turns).toBe(2);
  });

  it('reports words and tool calls of the agent as unknown, not as zero', async () => {
    const { measures } = await call({ script: [{ say: 'Hello there.' }] }, talker({ delayMs: 700 }));
    expect(measures).toMatchObject({ words: { caller: 2, agent: null }, talkRatio: null, toolCalls: null });
  });

  it('decides checks by heard times', async () => {
    const agent = talker({ delayMs: 1_500 });
    const check = (ms: number) =>
      call({ script: [{ say: TWENTY }], checks: [{ type: 'max_latency_ms', ms, ...required }] }, agent);
    expect((await check(1_400)).outcome).toBe('failed');
    expect((await check(1_600)).outcome).toBe('passed');
  });

  it('is not exercised, and not repeated, if the subject of a required check did not occur', async () => {
    const script = [{ say: TWENTY }, { say: 'Wait!', bargeIn: { afterMs: 5_000 } }] as const;
    const result = await call({ script, checks: [{ type: 'yields_within_ms', ms: 1_000, ...required }] }, talker());
    expect(result.outcome).toBe('error');
    expect(result.failure).toMatchObject({ code: 'not_exercised', retryable: false });
    expect(result.checks[0]).toMatchObject({ met: null, undecided: 'not_exercised' });
  });

  it('fails an agent that is silent', async () => {
    const result = await call({ script: [{ say: TWENTY }] }, cued());
    expect(result.outcome).toBe('failed');
    expect(result.end.code).toBe('agent_silent');
    expect(result.measures.longestSilenceMs).toBe(8_000);
  });

  it('has words with times only of the caller', async () => {
    const result = await call({ script: [{ say: ['My number is', { pauseMs: 500 }, '555'] }] }, talker());
    expect(result.voice?.words).toEqual([
      { speaker: 'caller', text: 'My number is', startMs: 3_000, endMs: 3_600 },
      { speaker: 'caller', text: '555', startMs: 4_100, endMs: 4_250 },
    ]);
    expect(result.voice?.lanes.caller).toHaveLength(2);
  });

  it('does not judge criteria without words', async () => {
    const criteria = [{ text: 'The agent is polite', required: true, weight: 1 }];
    const result = await call({ script: [{ say: TWENTY }], criteria }, talker());
    expect(result.outcome).toBe('error');
    expect(result.criteria[0]).toMatchObject({ verdict: 'not_judged', reason: 'The words of the agent are not known' });
  });

  it('passes the whole call on to the recording', async () => {
    const { sink, bytes } = collected();
    const { measures } = await call({ script: [{ say: TWENTY }] }, talker(), { recording: sink });
    // Two channels with a byte per sample.
    expect(bytes()).toHaveLength(2 * 8 * measures.durationMs);
  });

  it('reports the hang-up before the result', async () => {
    const onHangUp = jest.fn();
    await call({ script: [{ say: TWENTY }] }, talker(), { onHangUp });
    expect(onHangUp).toHaveBeenCalledTimes(1);
  });

  it('is an error if the sounds cannot be prepared', async () => {
    const sounds = { ...SOUNDS, synthesise: () => Promise.reject(new Error('no such voice')) };
    const result = await call({ script: [{ say: TWENTY }] }, talker(), { sounds });
    expect(result).toMatchObject({
      outcome: 'error',
      failure: { code: 'speech_failed' },
      voice: null,
    });
    expect(result.reason).toContain('no such voice');
    expect(result.failure?.retryable).toBe(true);
  });

  it('is not repeated if the voice can never speak the text', async () => {
    const error = Object.assign(new Error('"???" cannot be spoken'), { isPermanent: true });
    const sounds = { ...SOUNDS, synthesise: () => Promise.reject(error) };
    const result = await call({ script: [{ say: '???' }] }, talker(), { sounds });
    expect(result.failure).toMatchObject({ code: 'speech_failed', retryable: false });
    expect(afterAttempt(result, [])).toMatchObject({ next: 'end' });
  });

  it.each<[string, DefinitionInput, string]>([
    ['no script and no language model', {}, 'no_language_model'],
    [
      'babble that is not there',
      { script: [{ say: TWENTY }], conditions: { noise: { type: 'babble', snrDb: 10 } } },
      'speech_failed',
    ],
  ])('is an error before the call with %s', async (_name, definition, code) => {
    const result = await call(definition, talker());
    expect(result).toMatchObject({ outcome: 'error', failure: { code }, voice: null });
  });

  it('is an error if the script depends on words that the platform does not report', async () => {
    const answers = [{ when: { says: { text: 'name' } }, say: 'Rossi' }];
    const result = await call({ script: [{ say: TWENTY }, { answers }] }, talker());
    expect(result).toMatchObject({ outcome: 'error', failure: { code: 'stt_slow', retryable: true } });
  });

  it('is an error if there was no call', async () => {
    const transport: VoiceTransport = {
      name: 'broken',
      clock: 'heard',
      lineRate: 8_000,
      identity: { protocol: 'broken', url: 'wss://agent.example', callId: '1' },
      call: () => Promise.reject(new CallFailure('connection_failed')),
    };
    const result = await call({ script: [{ say: TWENTY }] }, talker(), { transport });
    expect(result).toMatchObject({ outcome: 'error', failure: { code: 'connection_failed' }, voice: null });
    expect(result.exchange).toMatchObject({ protocol: 'broken', callId: '1', requests: [] });
  });

  it('is a connection error if the connection breaks off before the agent speaks', async () => {
    const result = await call({ script: [{ say: TWENTY }] }, cued({ atMs: 3_500, close: 1011 }));
    expect(result).toMatchObject({ outcome: 'error', failure: { code: 'connection_lost' }, answeredTurns: 0 });
  });

  it('throws the reason of its signal', async () => {
    const over = new AbortController();
    const aborted: CallResult[] = [];
    const running = executeCall({
      definition: normalise({ script: [{ waitSeconds: 60 }, { say: TWENTY }] }),
      scenario: { scenarioText: 'You want a table.' },
      personality: { name: 'Caller' },
      transport: virtualCalls({ wire: rawWire, agent: cued({ atMs: 500, playMs: 1_000 }) }),
      voice: { sounds: SOUNDS, voice: 'any' },
      signal: over.signal,
      onAborted: (result) => aborted.push(result),
    });
    setImmediate(() => over.abort(new Error('enough')));
    await expect(running).rejects.toThrow('enough');
    expect(aborted[0]).toMatchObject({ outcome: 'error', failure: { code: 'interrupted' }, voice: null });
    // What was observed until then is kept.
    expect(aborted[0]!.timeline).toMatchObject([
      { type: 'speech', speaker: 'agent', start: expect.closeTo(500, 0), end: expect.closeTo(1_500, 0) },
      { type: 'silence', of: 'caller' },
      { type: 'error', code: 'interrupted' },
      { type: 'end', code: 'failure' },
    ]);
  });

  it('needs its voice options', async () => {
    const transport = virtualCalls({ wire: rawWire, agent: talker() });
    const running = executeCall({
      definition: normalise({ script: [{ say: TWENTY }] }),
      scenario: { scenarioText: 'You want a table.' },
      personality: { name: 'Caller' },
      transport,
    });
    await expect(running).rejects.toThrow('"voice"');
  });
});

describe('a stalled tester', () => {
  const definition: DefinitionInput = {
    script: [{ say: TWENTY }, { waitSeconds: 4 }, { say: TWENTY }],
    checks: [{ type: 'max_latency_ms', ms: 900, ...required }],
  };
  // The line lasts from 3,000 to 4,000, the answer from 4,500 to 5,500, the wait from 6,200 to 10,200.
  const stalledAt = (atMs: number, agent = talker()) => call(definition, agent, { stalls: [{ atMs, ms: 300 }] });

  it('outside all measured times changes nothing', async () => {
    const result = await stalledAt(8_000);
    expect(result.outcome).toBe('passed');
    expect(result.reliability).toMatchObject({
      reliable: false,
      stalls: [{ atMs: 8_000, ms: 300 }],
      frameLatenessMs: { worst: 300 },
    });
  });

  it.each([
    ['the caller’s sound', 3_200],
    ['a wait for the agent', 4_100],
  ])('in %s makes the call an error, which is repeated', async (_name, atMs) => {
    const result = await stalledAt(atMs);
    expect(result).toMatchObject({ outcome: 'error', failure: { code: 'tester_overloaded', retryable: true } });
  });

  it('never passes a slow agent and never fails a fast one', async () => {
    for (let atMs = 300; atMs < 12_000; atMs += 900) {
      expect(['passed', 'error']).toContain((await stalledAt(atMs)).outcome);
      expect(['failed', 'error']).toContain((await stalledAt(atMs, talker({ delayMs: 1_400 }))).outcome);
    }
  });

  it.each([300, 900])('of %i ms during the agent’s speech never counts as its interruption', async (ms) => {
    // The agent sends its sound as it speaks, from 4,400 to 7,400.
    const streaming = cued(...Array.from({ length: 150 }, (_, n) => ({ atMs: 4_400 + n * 20, playMs: 20 })));
    const checks = [{ type: 'max_interruptions', count: 0, ...required }] as const;
    const script = [{ say: TWENTY }, { say: TWENTY }];
    const undisturbed = await call({ script: script.slice(0, 1), checks }, streaming);
    expect(undisturbed.outcome).toBe('passed');
    const stalled = await call({ script, checks }, streaming, { stalls: [{ atMs: 5_000, ms }] });
    expect(stalled).toMatchObject({ outcome: 'error', failure: { code: 'tester_overloaded' } });
  });

  it('changes nothing while the agent’s audio is in the buffer', async () => {
    expect((await stalledAt(4_700, talker({ answerMs: 2_000 }))).outcome).toBe('passed');
  });
});
