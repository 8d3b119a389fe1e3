import type { CheckResult } from '../checks/check-result.js';
import { failure } from '../timeline/failure.js';
import type { TimelineEntry } from '../timeline/timeline.js';
import { attemptOf } from './attempts.js';
import type { CallResult } from './call.js';
import { unstartedCall } from './unstarted-call.js';
import { attemptWithoutTexts, withoutTexts } from './without-texts.js';

const SAID = 'Zanzibar';
const evidence = { entry: 1, quote: SAID };
const at = { start: 10, end: 20, turn: 1 };

const check = (values: Partial<CheckResult>): CheckResult => ({
  ...{ index: 0, type: 'says', name: 'Names the island', weight: 1, required: true, met: false },
  ...{ detail: `The agent said "${SAID}"`, evidence: [evidence] },
  ...values,
});
const TIMELINE: TimelineEntry[] = [
  { type: 'speech', speaker: 'caller', text: SAID, alternative: { source: 'wire', text: SAID }, ...at },
  {
    ...{ type: 'speech', speaker: 'agent', text: SAID, words: 'partly', uncertain: [[0, 3]], unheard: SAID },
    ...{ interrupted: true, ...at },
  },
  { type: 'tool_call', name: 'book', arguments: { where: SAID }, result: { to: SAID }, ...at },
  { type: 'tool_call', name: 'book', arguments: null, rawArguments: SAID, ...at },
  { type: 'finding', code: 'bad_mark', severity: 'error', detail: SAID, ...at },
  { type: 'platform', event: 'note', detail: SAID, ...at },
  { type: 'error', code: 'agent_error', message: SAID, ...at },
  { type: 'silence', of: 'agent', ...at },
  { type: 'end', by: 'agent', code: 'agent_hung_up', reason: SAID, ...at },
];
const none = unstartedCall('none', failure('not_ready'));
/** A call with what was said in every place that can have it. */
const RESULT: CallResult = {
  ...none,
  outcome: 'failed',
  score: 40,
  reason: `Not met: Names the island (${SAID}).`,
  failure: failure('agent_error', { what: SAID, said: SAID }),
  timeline: TIMELINE,
  end: { by: 'agent', code: 'agent_hung_up', reason: SAID },
  checks: [check({}), check({ type: 'max_latency_ms', detail: 'p90 1200 ms; the limit is 900' })],
  criteria: [
    {
      ...{ index: 0, text: 'Polite.', weight: 1, required: true, verdict: 'not_met', reason: SAID, evidence },
      samples: [{ met: false, reasoning: SAID, evidence, unusable: [SAID] }],
      disagreement: false,
      failure: failure('no_verdict', SAID),
    },
  ],
  invalidity: { code: 'invented_fact', message: SAID, evidence: [evidence] },
  measures: { ...none.measures, durationMs: 1_234, endReason: SAID },
  exchange: {
    ...{ protocol: 'none', url: 'wss://agent', callId: 'c', omittedRequests: 0 },
    requests: [
      { turn: 0, sentAtMs: 1, status: 200, firstByteMs: 2, tokenTimesMs: [], finishReason: null, unreadable: SAID },
    ],
  },
  unusableAnswers: [{ task: 'caller', text: SAID }],
  voice: {
    voice: { clock: 'heard', greetingMs: 640 } as NonNullable<CallResult['voice']>['voice'],
    wireFindings: [{ code: 'bad_mark', severity: 'error', atMs: 1, detail: SAID, source: 'Twilio: mark' }],
    words: [{ speaker: 'agent', text: SAID, startMs: 1, endMs: 2 }],
    wordsOmitted: 3,
    wordsFrom: { source: 'wire', model: null, times: 'word' },
    lanes: { caller: [{ startMs: 1, endMs: 2 }], agent: [] },
  },
};

describe('withoutTexts', () => {
  const emptied = withoutTexts(RESULT);

  it('leaves nothing of what was said', () => {
    expect(JSON.stringify(RESULT).split(SAID)).toHaveLength(33);
    expect(JSON.stringify(emptied)).not.toContain(SAID);
  });

  it('keeps outcome, verdicts, times and measures', () => {
    expect(emptied).toMatchObject({
      ...{ outcome: 'failed', score: 40, answeredTurns: RESULT.answeredTurns, versions: RESULT.versions },
      checks: [
        { name: 'Names the island', met: false, evidence: [{ entry: 1, quote: '' }] },
        { met: false, detail: 'p90 1200 ms; the limit is 900' },
      ],
      criteria: [{ text: 'Polite.', verdict: 'not_met', samples: [{ met: false }] }],
      invalidity: { code: 'invented_fact', evidence: [{ entry: 1 }] },
      failure: { code: 'agent_error', fault: RESULT.failure!.fault },
      measures: { durationMs: 1_234 },
      voice: { voice: RESULT.voice!.voice, lanes: RESULT.voice!.lanes, wordsFrom: RESULT.voice!.wordsFrom },
    });
    expect(emptied.timeline.map(({ type, start, end, turn }) => ({ type, start, end, turn }))).toEqual(
      TIMELINE.map(({ type, start, end, turn }) => ({ type, start, end, turn })),
    );
    expect(emptied.timeline.slice(0, 3)).toEqual([
      { type: 'speech', speaker: 'caller', text: '', words: 'deleted', ...at },
      { type: 'speech', speaker: 'agent', text: '', words: 'deleted', interrupted: true, ...at },
      { type: 'tool_call', name: 'book', arguments: {}, isResultOmitted: true, ...at },
    ]);
  });

  it('says why the call ended so in fixed sentences', () => {
    expect(emptied.reason).toBe('The agent reported an error in its response.');
    const { reason } = withoutTexts({ ...RESULT, failure: null });
    expect(reason).toBe('Not met: Names the island; Names the island; Polite. The texts of the call were deleted.');
    expect(withoutTexts({ ...RESULT, failure: null, checks: [], criteria: [] }).reason).toBe(
      'The texts of the call were deleted.',
    );
    expect(emptied.end.reason).toBe('the agent hung up');
  });

  it('says of a reader who does not get the texts that others do', () => {
    const withheld = withoutTexts(RESULT, 'withheld');
    expect(JSON.stringify(withheld)).not.toContain(SAID);
    expect(JSON.stringify(withheld)).not.toContain('deleted');
    expect(withheld.timeline[2]).toEqual({ type: 'tool_call', name: 'book', arguments: {}, ...at });
    expect(withoutTexts({ ...RESULT, failure: null }, 'withheld').reason).toBe(
      'Not met: Names the island; Names the island; Polite. The texts of the call are shown to EDITOR and ADMIN keys.',
    );
  });

  it('changes nothing when it is done again', () => expect(withoutTexts(emptied)).toEqual(emptied));

  it('empties the summary of an attempt in the same way', () => {
    const attempt = attemptOf(RESULT, { startedAt: 'a', endedAt: 'b' });
    expect(attemptWithoutTexts(attempt)).toEqual({
      ...attempt,
      reason: 'The agent reported an error in its response.',
    });
    expect(attemptWithoutTexts({ ...attempt, failureCode: null }).reason).toBe('The texts of the call were deleted.');
  });
});
