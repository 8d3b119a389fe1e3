import { MISBEHAVING_MODELS } from '../model/misbehaving-models.js';
import { sample } from '../../../libs/statistics/testing/sample.js';
import { type ModelCell, ModelCells } from '../agent/voice/testing/model-cells.js';
import { VoiceCalls } from '../agent/voice/testing/voice-call.js';

const calls = new VoiceCalls();
const cells = new ModelCells(calls);
afterAll(async () => {
  await cells.close();
  await calls.close();
});

const outcomeOf = async (cell: ModelCell) => (await cells.call(cell)).outcome;

async function recorded(cell: ModelCell) {
  const audio: Uint8Array[] = [];
  const wire: string[] = [];
  const recording = {
    audio: (part: Uint8Array) => audio.push(part),
    wire: (lines: readonly string[]) => wire.push(...lines),
  };
  const { outcome, checks, criteria, timeline, voice } = await cells.call(cell, recording);
  return { audio: Buffer.concat(audio), wire, result: { outcome, checks, criteria, timeline, voice } };
}

describe('a generated caller over OpenAI Realtime', () => {
  it.each(['criterion', 'check'] as const)('passes the healthy agent and fails the faulty one by a %s', async (by) => {
    expect(await outcomeOf({ isFaulty: false, by })).toBe('passed');
    expect(await outcomeOf({ isFaulty: true, by })).toBe('failed');
  });

  it('has the same recording, wire log, words and verdict each time', async () => {
    const [first, second] = [await recorded(WELL_BEHAVED), await recorded(WELL_BEHAVED)];
    expect(first.audio.length).toBeGreaterThan(100_000);
    expect(second.audio.equals(first.audio)).toBe(true);
    expect(second.wire).toEqual(first.wire);
    expect(second.result).toEqual(first.result);
    const said = first.result.timeline.flatMap((entry) => (entry.type === 'speech' ? [entry.text] : []));
    expect(said).toEqual(expect.arrayContaining(['My name is Rossi.', 'Your table is booked.']));
  });
});

const WELL_BEHAVED: ModelCell = { isFaulty: false, by: 'criterion' };

describe('a language model that misbehaves on a voice call', () => {
  it.each(sample(MISBEHAVING_MODELS).map((model) => [`${model.task} that ${model.name}`, model] as const))(
    'neither blames a healthy agent nor passes a faulty one: %s',
    async (_name, model) => {
      expect(model.healthy).toContain(await outcomeOf({ model, isFaulty: false, by: 'criterion' }));
      expect(model.faulty).toContain(await outcomeOf({ model, isFaulty: true, by: 'criterion' }));
    },
  );

  const callers = MISBEHAVING_MODELS.filter(({ task }) => task === 'caller');
  it.each(sample(callers).map((model) => [model.name, model] as const))(
    'does not make a check fail: a caller that %s',
    async (_name, model) => {
      expect(model.healthy).toContain(await outcomeOf({ model, isFaulty: false, by: 'check' }));
    },
  );
});
