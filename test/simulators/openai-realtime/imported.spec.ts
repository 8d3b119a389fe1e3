import type { CallResult, RecordingSink } from '../../../libs/simulation/index.js';
import { sample } from '../../../libs/statistics/testing/sample.js';
import { imported } from '../agent/voice/testing/imported.js';
import {
  type RealtimeCell,
  realtimeCells,
  RealtimeCells,
  realtimeEvaluationOf,
} from '../agent/voice/testing/realtime-cells.js';
import { roundTripOf } from '../agent/voice/testing/round-trip.js';
import { VoiceCalls } from '../agent/voice/testing/voice-call.js';

const calls = new VoiceCalls();
const cells = new RealtimeCells(calls);
beforeAll(() => calls.prepare(), 180_000);
afterAll(() => calls.close());

const nameOf = ({ about, fault, key, line }: RealtimeCell): string =>
  `${about}, ${fault ?? 'healthy'} in ${key}, ${line}`;
const CELLS = sample(realtimeCells(1).filter((_, index) => index % 17 === 0)).map(
  (cell) => [nameOf(cell), cell] as const,
);

async function recorded(cell: RealtimeCell) {
  const audio: Uint8Array[] = [];
  const recording: RecordingSink = { audio: (part) => audio.push(part), wire: () => undefined };
  return { audio, made: await cells.call(cell, recording) };
}

/** What the caller heard of the agent. */
const heardOf = ({ voice }: CallResult): string[] =>
  voice!.words.flatMap(({ speaker, unheard, text }) => (speaker === 'agent' && !unheard ? [text] : []));

describe('a Realtime call imported from its recording and a transcript of what was heard', () => {
  it.each(CELLS)(
    'has the words and measures of the call: %s',
    async (_name, cell) => {
      const { audio, made } = await recorded(cell);
      const again = await imported(made, realtimeEvaluationOf(cell), { audio });
      expect(heardOf(made).length).toBeGreaterThan(0);
      expect(heardOf(again)).toEqual(heardOf(made));
      expect(again.voice?.wordsFrom?.source).toBe('transcript');
      expect(roundTripOf(made, again).filter(({ verdict }) => verdict === 'different')).toEqual([]);
    },
    60_000,
  );

  it('has other words if the transcript says so', async () => {
    const [, cell] = CELLS[0]!;
    const { audio, made } = await recorded(cell);
    const timeline = made.timeline.map((entry) =>
      entry.type === 'speech' && entry.speaker === 'agent' ? { ...entry, text: `${entry.text} Tomatoes.` } : entry,
    );
    const again = await imported({ ...made, timeline }, realtimeEvaluationOf(cell), { audio });
    const different = roundTripOf(made, again).filter(({ verdict }) => verdict === 'different');
    expect(different.map(({ measure }) => measure)).toEqual(['words of the agent']);
  }, 60_000);
});
