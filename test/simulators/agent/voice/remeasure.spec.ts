import type { CheckInput, EvaluationInput } from '../../../../libs/evaluation-definition/index.js';
import type { CallResult, RecordingSink, TakeReports } from '../../../../libs/simulation/index.js';
import { type RecordedVoiceCall, remeasured } from './testing/remeasured.js';
import { VoiceCalls } from './testing/voice-call.js';
import { evaluationOf, type VoiceCell } from './testing/voice-cells.js';

const calls = new VoiceCalls();
beforeAll(() => calls.prepare(), 180_000);
afterAll(() => calls.close());

const CELL: VoiceCell = { fault: undefined, key: 'phone-barge-in', line: 'as in the evaluation', seed: 1 };
/** Silence as mu-law. */
const SILENCE = 0xff;

async function recorded(cell: VoiceCell, takeReports?: TakeReports, checks: readonly CheckInput[] = []) {
  const stored: RecordedVoiceCall = { audio: [], facts: '' };
  const recording: RecordingSink = {
    audio: (part) => stored.audio.push(part),
    wire: () => undefined,
    facts: (json) => (stored.facts = json),
  };
  const given = evaluationOf(cell);
  const evaluation = { ...given, checks: [...given.checks!, ...checks] };
  const options = { recording, ...(takeReports && { takeReports }) };
  return { evaluation, stored, result: await calls.call(evaluation, 'slt', options) };
}

/** What is stored of a result, without the field that tells how long the tester itself took. */
function measured({ measures, ...result }: CallResult) {
  const { tester: _, ...rest } = measures;
  return JSON.parse(JSON.stringify({ ...result, measures: rest })) as object;
}

describe('remeasure', () => {
  it.each<[string, VoiceCell]>([
    ['a passed call', CELL],
    ['a failed call', { ...CELL, fault: 'ignores-barge-in' }],
    ['a call with errors of the protocol', { ...CELL, fault: 'wrong-encoding' }],
  ])(
    'gives %s the same result again by unchanged definitions',
    async (_name, cell) => {
      const { evaluation, stored, result } = await recorded(cell);
      expect(measured(await remeasured(result, evaluation, stored))).toEqual(measured(result));
    },
    60_000,
  );

  it('decides by the sound of the recording and by the definition that it is given', async () => {
    const { evaluation, stored, result } = await recorded(CELL);
    expect(result.outcome).toBe('passed');
    const strict: EvaluationInput = {
      ...evaluation,
      checks: [...evaluation.checks, { name: 'Answers at once', type: 'max_latency_ms', ms: 1 }],
    };
    const again = await remeasured(result, strict, stored);
    expect([again.outcome, again.checks.filter(({ met }) => met === false).map(({ name }) => name)]).toEqual([
      'failed',
      ['Answers at once'],
    ]);
    const agentIsSilent = stored.audio.map((part) => part.map((byte, index) => (index % 2 === 1 ? SILENCE : byte)));
    const silent = await remeasured(result, evaluation, { ...stored, audio: agentIsSilent });
    expect(silent.outcome).not.toBe('passed');
    expect(silent.timeline.some((entry) => entry.type === 'speech' && entry.speaker === 'agent')).toBe(false);
  }, 60_000);

  it.each([
    ['that was reported', 1, null, [true, false]],
    ['that was reported twice', 2, null, [false, false]],
    ['that was not reported', 0, null, [false, true]],
    ['if a report was refused', 0, 'at must be a date', [null, null]],
  ] as const)(
    'keeps what is known of a tool call %s',
    async (_, count, refusal, met) => {
      const report = { name: 'book_table', arguments: { guests: 2 }, result: { booked: true }, agoMs: 3_000 };
      const checks: CheckInput[] = [
        { name: 'Books once', type: 'calls_tool', tool: 'book_table', arguments: { guests: 2 }, times: { max: 1 } },
        { name: 'Books nothing', type: 'never_calls_tool', tool: 'book_table' },
      ];
      const takeReports = () => Promise.resolve({ calls: Array<typeof report>(count).fill(report), refusal });
      const { evaluation, stored, result } = await recorded(CELL, takeReports, checks);
      expect(result.checks.slice(-2).map((check) => check.met)).toEqual(met);
      const again = await remeasured(result, evaluation, stored);
      expect(measured(again)).toEqual(measured(result));
      expect(again.measures.toolCalls).toBe(refusal === null ? count : null);
    },
    60_000,
  );
});
