import { type CheckInput, inputViolations, normalise } from '../../evaluation-definition/index.js';
import { OutboundClient } from '../../outbound-http/index.js';
import { delta, event, TestServers } from '../../../test/simulators/servers.js';
import { chatCompletions, RealClock } from '../index.js';
import { agentSaying, call } from '../testing/calls.js';
import { CallView, type HeardTimes } from '../timeline/call-view.js';
import type { SpeechEntry, TimelineEntry } from '../timeline/timeline.js';
import { evaluateChecks } from './evaluate-checks.js';

const servers = new TestServers();
afterEach(() => servers.close());

const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
const ONE: CheckInput = { type: 'answers', times: { max: 1 } };
const script = [{ say: 'Is seven free?' }];

/** An agent that sends these messages, and waits for its tool where one ends with it. */
async function overHttp(messages: readonly string[], checks: readonly CheckInput[]) {
  let round = 0;
  const url = await servers.http((response) => {
    const text = messages[round++]!;
    const tool = { index: 0, id: `c${round}`, type: 'function', function: { name: 'find_table', arguments: '{}' } };
    const end = round < messages.length ? delta({ tool_calls: [tool] }, 'tool_calls') : delta({}, 'stop');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end((text === '' ? '' : delta({ content: text })) + end + event('[DONE]'));
  });
  const transport = chatCompletions({ client, url, assistantId: 'a' });
  return call({ script, checks }, { transport, clock: new RealClock(), patienceMs: 50 });
}

describe('answers over chat completions', () => {
  it.each([
    [['Eight is free.']],
    [['', 'Eight is free.']],
    // Agents say something while they work, which is part of the answer.
    [['One moment, please.', 'Eight is free.']],
    [['Let me look.', 'And once more.', 'Eight is free, shall I book it?']],
    [['Sure, let me check whether seven is free.', 'Seven is free.']],
    [['Let me check that for you.', 'Let me check that for you.', 'Eight is free.']],
    [['Einen Moment, bitte.', 'Acht Uhr ist frei.']],
    [['Déjeme consultar la agenda.', 'A las ocho hay mesa.']],
  ])('are one for a healthy agent that says %j', async (messages) => {
    const result = await overHttp(messages, [ONE]);
    expect(result).toMatchObject({ outcome: 'passed' });
    expect(result.checks[0]!.detail).toBe('The agent gave at most 1 answer in a turn; the limits are 0 and 1');
  });

  it.each([
    // livekit/agents#6411, livekit/agents#4554, dastratakos in ReviewStage/luke#227: the same in other words.
    [['Seven is taken, eight is free.', 'At eight we have a table, seven is gone.']],
    [['Let me tell you: seven is taken.', 'Seven is booked, sorry.']],
    [['Of course.', 'Of course, eight is free.']],
    [['A second seating is at eight.', 'We have a seating at eight.']],
    // home-assistant/core#139875: what the agent is going to do, in words that no table knows.
    [['I turn the lights off in your office.', 'The lights are off.']],
    [['Your table is booked.', 'Anything else?']],
  ])('are undecided for an agent whose words before a tool call may be an answer: %j', async (messages) => {
    const result = await overHttp(messages, [ONE]);
    expect(result).toMatchObject({ outcome: 'error', checks: [{ met: null, undecided: 'evidence' }] });
  });

  it.each([
    // livekit/agents#6411, cloudflare/vibesdk#119, moltis-org/moltis#135: an answer beside the tool call, and again after its result.
    [['Seven is taken, eight is free.', 'Seven is taken, eight is free.']],
    [['Seven is taken, eight is free.', 'Sorry: seven is taken, eight is free. Shall I book it?']],
    // livekit/livekit#3676: the whole answer twice in one message.
    [['Seven is taken, eight is free.Seven is taken, eight is free.']],
  ])('are two for a faulty agent that says %j', async (messages) => {
    const result = await overHttp(messages, [ONE]);
    expect(result).toMatchObject({ outcome: 'failed' });
    expect(result.checks[0]!.detail).toBe('The agent gave 2 answers in turn 1; the limits are 0 and 1');
    expect(result.checks[0]!.evidence.length).toBeGreaterThan(0);
  });
});

it('answers count in each turn, or in one', async () => {
  const twice = { type: 'answers', times: { max: 1 }, turn: 2 } as const;
  const steps = { script: [{ say: 'One.' }, { say: 'Two.' }] };
  const agent = () => agentSaying(['Fine.', 'It is all very well. It is all very well.']);
  const checks: CheckInput[] = [ONE, twice, { ...twice, turn: 1 }, { type: 'answers', times: { min: 1 } }];
  const result = await call({ ...steps, checks }, { transport: agent() });
  expect(result.checks.map(({ met }) => met)).toEqual([false, false, true, true]);
  const silent = await call({ ...steps, checks: checks.slice(3) }, { transport: agentSaying(['Fine.', '', '', '']) });
  expect(silent.checks[0]).toMatchObject({ met: false, detail: 'The agent gave 0 answers in turn 2; the limit is 1' });
});

describe('answers on a voice call', () => {
  const said = (speaker: 'agent' | 'caller', text: string, start: number, end: number): SpeechEntry => ({
    ...{ type: 'speech', speaker, text, start, end, turn: 1 },
    ...(speaker === 'agent' && { words: 'known' as const }),
  });
  const caller = said('caller', 'Is seven free?', 0, 1_000);
  const first = said('agent', 'Eight is free.', 1_500, 2_500);
  /** @param pauses whether the silence before each further sound is inside a turn of the agent */
  async function answersOf(sounds: readonly SpeechEntry[], pauses: readonly boolean[], stall?: [number, number]) {
    const entries: TimelineEntry[] = [caller, ...sounds];
    const parts = sounds.slice(1).map((entry, index) => ({ entry, index: index + 2 }));
    const heard: HeardTimes = {
      ...{ waits: [], gaps: [], firstSound: { plusMinusMs: 0 }, thinking: [] },
      pauses: parts.filter((_, index) => pauses[index]).map((part) => ({ ms: 600, plusMinusMs: 0, part })),
    };
    const stalls = stall ? [{ start: stall[0], end: stall[1] }] : [];
    const view = new CallView(entries, stalls, heard);
    return (await evaluateChecks(normalise({ checks: [ONE] }).checks, view, async () => {}))[0]!;
  }

  it('are one in spite of pauses, and two after the end of a turn', async () => {
    const later = said('agent', 'Hello? Eight is free.', 4_000, 5_000);
    expect(await answersOf([first], [])).toMatchObject({ met: true });
    expect(await answersOf([first, later], [true])).toMatchObject({ met: true });
    expect(await answersOf([first, later], [false])).toMatchObject({ met: false });
  });

  it('are undecided where the agent may have answered the line before, or the tester stalled', async () => {
    const early = said('agent', 'Seven is taken.', 400, 1_200);
    expect(await answersOf([early, first], [false])).toMatchObject({ met: null, undecided: 'evidence' });
    const later = said('agent', 'Eight is free.', 4_000, 5_000);
    expect(await answersOf([first, later], [false], [2_600, 3_900])).toMatchObject({ met: null });
  });

  it('are undecided where the agent goes on after a tool call and the end of a turn, unless it announced that', async () => {
    const tool: TimelineEntry = { type: 'tool_call', name: 'find', arguments: {}, start: 2_600, end: 2_600, turn: 1 };
    const later = said('agent', 'At eight there is a table.', 4_000, 5_000);
    const after = async (text: string, words: 'known' | 'partly' = 'known') => {
      const entries = [caller, { ...first, text, words }, tool, later];
      const view = new CallView(entries, [], {
        ...{ waits: [], gaps: [], pauses: [], firstSound: { plusMinusMs: 0 }, thinking: [] },
      });
      return (await evaluateChecks(normalise({ checks: [ONE] }).checks, view, async () => {}))[0]!;
    };
    expect(await after('Eight is free.')).toMatchObject({ met: null, undecided: 'evidence' });
    expect(await after('One moment, please.')).toMatchObject({ met: true });
    expect(await after('One moment, please.', 'partly')).toMatchObject({ met: null });
  });

  it('leave out what the agent says because the tester thinks', async () => {
    const prompted = { ...said('agent', 'Are you still there?', 4_000, 5_000), promptedByWait: true as const };
    expect(await answersOf([first, prompted], [false])).toMatchObject({ met: true });
  });
});

describe('never_calls_tool without a tool', () => {
  const none = { type: 'never_calls_tool' } as CheckInput;
  const butEnd = { ...none, except: ['find_table'] } as CheckInput;

  it.each([11, 23, 47])('passes a healthy agent and fails one that calls a tool (seed %i)', async (seed) => {
    const healthy = await overHttp(['Eight is free.'], [none, butEnd]);
    expect(healthy).toMatchObject({ outcome: 'passed' });
    expect(healthy.checks.map(({ detail }) => detail)).toEqual([
      'The agent called no tool',
      'The agent called no tool except find_table',
    ]);
    const rounds = ['', ...Array.from({ length: seed % 3 }, () => ''), 'Eight is free.'];
    const faulty = await overHttp(rounds, [none, butEnd]);
    expect(faulty.checks.map(({ met }) => met)).toEqual([false, true]);
    expect(faulty.checks[0]).toMatchObject({ name: 'Agent calls no tool', evidence: [{ quote: 'find_table({})' }] });
  });

  it('is refused where its fields contradict each other', () => {
    const base = { key: 'k', name: 'n', scenarioText: 's', personalityId: 'c7e15a3b-2f68-4d90-a1b4-8e9d0c6f7251' };
    const violations = (check: object) => inputViolations('file', { ...base, checks: [check] });
    expect(violations({ ...butEnd, tool: 'x' })).toEqual([
      'checks[0].except has no effect with tool: leave tool out to forbid all others',
    ]);
    expect(violations({ type: 'calls_tool', except: ['x'], tool: 'y' })).toEqual([
      expect.stringContaining('checks[0].except is not a known field'),
    ]);
    expect(violations({ type: 'answers' })).toEqual(['checks[0].times is required']);
    expect(violations({ type: 'answers', times: { min: 3, max: 2 } })).toEqual([
      'checks[0].times must not be less than times.min (3)',
    ]);
    expect(violations(butEnd)).toEqual([]);
  });
});
