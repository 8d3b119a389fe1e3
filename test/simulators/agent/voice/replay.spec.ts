import { sample } from '../../../../libs/statistics/testing/sample.js';
import { VoiceCalls } from './testing/voice-call.js';
import { evaluationOf, judged, type VoiceCell } from './testing/voice-cells.js';

const calls = new VoiceCalls();
beforeAll(() => calls.prepare(), 180_000);
afterAll(() => calls.close());

const NOISY: VoiceCell = { fault: undefined, key: 'phone-listening', line: 'white noise, 20 dB', seed: 5 };

async function recorded(cell: VoiceCell) {
  const audio: Uint8Array[] = [];
  const wire: string[] = [];
  const recording = {
    audio: (part: Uint8Array) => audio.push(part),
    wire: (lines: readonly string[]) => wire.push(...lines),
  };
  const { outcome, reason, checks, measures, voice, timeline } = await calls.call(evaluationOf(cell), 'slt', {
    recording,
  });
  return { audio: Buffer.concat(audio), wire, result: { outcome, reason, checks, measures, voice, timeline } };
}

describe('a call on virtual time', () => {
  it('has the same recording, wire log and verdict each time with the same seed', async () => {
    const first = await recorded(NOISY);
    const second = await recorded(NOISY);
    expect(first.audio.length).toBeGreaterThan(300_000);
    expect(second.audio.equals(first.audio)).toBe(true);
    expect(second.wire).toEqual(first.wire);
    expect(second.result).toEqual(first.result);
    expect((await recorded({ ...NOISY, seed: 6 })).audio.equals(first.audio)).toBe(false);
  }, 60_000);
});

const cells: readonly VoiceCell[] = [
  { fault: undefined, key: 'phone-booking', line: 'as in the evaluation', seed: 1 },
  { fault: undefined, key: 'phone-barge-in', line: 'as in the evaluation', seed: 1 },
  { fault: undefined, key: 'phone-listening', line: 'as in the evaluation', seed: 1 },
  { fault: undefined, key: 'phone-hesitation', line: 'as in the evaluation', seed: 1 },
  { fault: 'slow-answer', key: 'phone-booking', line: 'as in the evaluation', seed: 1 },
  { fault: 'choppy-sound', key: 'phone-booking', line: 'as in the evaluation', seed: 1 },
  { fault: 'ignores-barge-in', key: 'phone-barge-in', line: 'as in the evaluation', seed: 1 },
  { fault: 'yields-to-any-sound', key: 'phone-listening', line: 'as in the evaluation', seed: 1 },
  { fault: 'no-clear', key: 'phone-barge-in', line: 'as in the evaluation', seed: 1 },
  { fault: 'cuts-hesitation', key: 'phone-hesitation', line: 'as in the evaluation', seed: 1 },
];

describe.each([150, 300])('a tester that stalls for %i ms', (ms) => {
  it.each(cells.map((cell) => [cell.fault ?? 'the healthy agent', cell.key, cell] as const))(
    'gives %s in %s the right verdict or none, wherever the stall is',
    async (_fault, _key, cell) => {
      const wrong: string[] = [];
      for (const atMs of sample([2_030, 4_510, 7_270, 9_990, 13_450], cells.indexOf(cell))) {
        const result = await calls.call(evaluationOf(cell), 'slt', {
          fault: cell.fault,
          stalls: [{ atMs, ms }],
        });
        const isNone = result.outcome === 'error' && result.failure?.code === 'tester_overloaded';
        const { isRight, found } = judged(cell, result);
        if (!isRight && !isNone) wrong.push(`stall at ${atMs} ms: ${found}`);
        if (!isNone && result.reliability.stalls.length === 0) wrong.push(`stall at ${atMs} ms: not noticed`);
      }
      expect(wrong).toEqual([]);
    },
    120_000,
  );
});
