import { agentSaying, call } from '../testing/calls.js';
import type { CallResult } from '../index.js';
import { Transcript } from '../judge/transcript.js';

const SCRIPT = [
  { say: ['A table', { pauseMs: 1200 }, 'for four.'] },
  { backchannel: 'mm-hmm' as const, afterMs: 1500 },
  { noise: 'cough' as const, afterMs: 3000 },
  { say: 'Five, sorry.', bargeIn: { afterMs: 4500 } },
  { press: '12#' },
  {
    answers: [
      { when: { says: { text: 'name' } }, say: ['Ros', { pauseMs: 500 }, 'si.'] },
      { when: { says: { text: 'phone' } }, say: '555.' },
    ],
  },
  { noise: 'door' as const },
  { end: 'Done' },
];

const talk = (answers: string[], script: object[] = SCRIPT) =>
  call({ script: script as typeof SCRIPT }, { transport: agentSaying(answers, { delayMs: 100 }) });
const entriesOf = ({ timeline }: CallResult) =>
  timeline.map((entry) => {
    if (entry.type === 'speech') return `${entry.speaker}: ${entry.text}`;
    return entry.type === 'sound' ? `${entry.kind} ${entry.name} ${entry.possible}` : entry.type;
  });

describe('steps of voice calls, over text', () => {
  it('are said in the order of the script, without pauses, or left out and noted', async () => {
    const result = await talk(['For four, then.', 'Five. Your name and phone, please?', 'Thank you.']);
    expect(entriesOf(result)).toEqual([
      'caller: A table for four.',
      'agent: For four, then.',
      'backchannel mm-hmm false',
      'noise cough false',
      'caller: Five, sorry.',
      'agent: Five. Your name and phone, please?',
      'keys 12# false',
      'caller: Ros si. 555.',
      'agent: Thank you.',
      'noise door false',
      'end',
    ]);
    expect(result).toMatchObject({ outcome: 'passed', end: { code: 'caller_done' }, measures: { turns: 3 } });
  });

  it('say in the timeline which step they come from, and that a barge-in was not possible', async () => {
    const { timeline } = await talk(['For four, then.', 'Five.']);
    expect(timeline[2]).toEqual({
      type: 'sound',
      speaker: 'caller',
      kind: 'backchannel',
      name: 'mm-hmm',
      possible: false,
      script: { step: 1 },
      start: 100,
      end: 100,
      turn: 1,
    });
    expect(timeline[0]).not.toHaveProperty('bargeIn');
    expect(timeline[4]).toMatchObject({
      text: 'Five, sorry.',
      bargeIn: { afterMs: 4500, possible: false },
      script: { step: 3 },
      turn: 2,
    });
  });

  it('do not count as turns, and change neither latency nor silence', async () => {
    const plain = SCRIPT.filter((step) => 'say' in step || 'answers' in step || 'end' in step);
    const answers = ['For four, then.', 'Five. Your name?', 'Thank you.'];
    const { measures: withSounds } = await talk(answers);
    const { measures: without } = await talk(answers, plain);
    expect(withSounds).toEqual(without);
  });

  it('repeat the last line, not the sound after it, when the agent does not answer', async () => {
    const result = await talk(['', 'For four.', 'Five.']);
    expect(entriesOf(result).slice(0, 5)).toEqual([
      'caller: A table for four.',
      'silence',
      'caller: A table for four.',
      'agent: For four.',
      'backchannel mm-hmm false',
    ]);
  });

  it('are shown to the judge as events of the call that prove nothing', async () => {
    const { timeline } = await talk(['For four, then.', 'Five.']);
    const transcript = new Transcript(timeline);
    expect(String(transcript)).toContain(
      '{"who":"call","atMs":100,"text":"The caller says \\"mm-hmm\\" without taking the turn, which was not possible"}',
    );
    expect(transcript.locate('without taking the turn')).toMatchObject({ fault: expect.stringContaining('Nobody') });
  });
});

describe('checks of voice calls, over text', () => {
  it('are undecided: a text call meets them only if the connection changed after the start of the run', async () => {
    const checks = [
      { type: 'yields_within_ms', ms: 1000, required: false },
      { type: 'not', check: { type: 'clean_protocol' }, required: false },
      { type: 'says', text: 'five' },
    ] as const;
    const result = await call({ script: SCRIPT, checks }, { transport: agentSaying(['Four.', 'Five.']) });
    expect(result.checks.map(({ met }) => met)).toEqual([null, null, true]);
    expect(result).toMatchObject({ outcome: 'passed', score: 100 });
    const required = await call(
      { script: SCRIPT, checks: [{ type: 'clean_protocol' }] },
      { transport: agentSaying(['Four.', 'Five.']) },
    );
    expect(required).toMatchObject({ outcome: 'error', failure: { code: 'check_undecided', retryable: false } });
  });

  it('hold for what the agent understood, which needs no voice call', async () => {
    const understood = (value: string) =>
      call(
        {
          script: SCRIPT,
          checks: [{ type: 'understood', values: [{ value }, { tool: 'book', argument: 'guests' }] }],
        },
        { transport: agentSaying([[{ tool: 'book', arguments: { guests: 5 } }, { say: 'Booked.' }], 'Bye.']) },
      );
    expect(await understood('five')).toMatchObject({ outcome: 'passed' });
    expect(await understood('four')).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('"four"') });
  });
});
