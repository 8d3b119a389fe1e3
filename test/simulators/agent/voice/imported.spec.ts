import type { RecordingSink } from '../../../../libs/simulation/index.js';
import { sample } from '../../../../libs/statistics/testing/sample.js';
import { imported } from './testing/imported.js';
import { roundTripOf } from './testing/round-trip.js';
import { VoiceCalls } from './testing/voice-call.js';
import { evaluationOf, type VoiceCell, voiceCells, voiceOfCell } from './testing/voice-cells.js';

const calls = new VoiceCalls();
beforeAll(() => calls.prepare(), 180_000);
afterAll(() => calls.close());

/** Keys are messages of the platform: a recording has no audio of them. */
const withoutKeys = ({ key }: VoiceCell): boolean => key !== 'phone-keys';
const nameOf = ({ fault, key, line }: VoiceCell): string => `${fault ?? 'healthy'} in ${key}, ${line}`;
const CELLS = sample(
  voiceCells(1)
    .filter(withoutKeys)
    .filter((_, index) => index % 9 === 0),
).map((cell) => [nameOf(cell), cell] as const);

async function recorded(cell: VoiceCell) {
  const audio: Uint8Array[] = [];
  const recording: RecordingSink = { audio: (part) => audio.push(part), wire: () => undefined };
  const evaluation = evaluationOf(cell);
  const made = await calls.call(evaluation, voiceOfCell(cell), { fault: cell.fault, recording });
  return { evaluation, audio, made };
}

describe('a call imported from its own recording', () => {
  it.each(CELLS)(
    'has the measures and words of the call within their uncertainty: %s',
    async (_name, cell) => {
      const { evaluation, audio, made } = await recorded(cell);
      const trips = roundTripOf(made, await imported(made, evaluation, { audio }));
      expect(trips.filter(({ verdict }) => verdict === 'different')).toEqual([]);
      expect(trips.length).toBeGreaterThan(10);
    },
    60_000,
  );

  it('has other measures if the agent is heard later', async () => {
    const { evaluation, audio, made } = await recorded({ ...CELLS[0]![1], fault: undefined });
    const stereo = Buffer.concat(audio);
    // By half a second.
    const shifted = stereo.map((byte, index) => (index % 2 === 1 ? (stereo[index - 2 * 4_000] ?? 0xff) : byte));
    const trips = roundTripOf(made, await imported(made, evaluation, { audio: [shifted] }));
    expect(trips.filter(({ verdict }) => verdict === 'different').map(({ measure }) => measure)).toContain('latency 1');
  }, 60_000);

  it('does not judge words or tools that it does not show', async () => {
    const { evaluation, audio, made } = await recorded({ ...CELLS[0]![1], fault: undefined });
    const again = await imported(made, evaluation, { audio }, { hasTranscript: false });
    const speech = again.timeline.filter((entry) => entry.type === 'speech');
    expect(new Set(speech.map(({ words, text }) => `${words} "${text}"`))).toEqual(new Set(['unknown ""']));
    expect(again.voice?.wordsFrom).toBeNull();
    expect(made.outcome).toBe('passed');
    expect(again.outcome).not.toBe('failed');
  }, 60_000);
});
