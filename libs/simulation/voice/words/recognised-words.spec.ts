import { voiceEntries } from '../conversation/voice-timeline.js';
import type { RecognisedPiece, VoiceFacts } from '../facts/facts.js';
import { agentSound, factsOf, line } from '../testing/facts.js';
import { wordsOfCall } from './words-from.js';

const piece = (startMs: number, endMs: number, text: string | null, more: Partial<RecognisedPiece> = {}) => ({
  ...{ startMs, endMs, text },
  ...more,
});
const timed = (...words: readonly (readonly [text: string, startMs: number, endMs: number])[]) =>
  words.map(([text, startMs, endMs]) => ({ text, startMs, endMs }));

const heard = (pieces: readonly RecognisedPiece[], more: Partial<VoiceFacts> = {}) =>
  factsOf({ recognised: { model: 'small', pieces }, agent: [agentSound(1_000, 2_000)], ...more });
const speech = (facts: VoiceFacts) => voiceEntries(facts).filter((entry) => entry.type === 'speech');
const unchanged = (text: string) => text;

describe('the words that a recogniser heard', () => {
  it('are at the times that it gives', () => {
    const facts = heard([
      piece(1_000, 2_000, 'Good evening.', { words: timed(['Good', 1_100, 1_400], ['evening.', 1_500, 1_900]) }),
    ]);
    expect(speech(facts)).toMatchObject([{ text: 'Good evening.', words: 'known' }]);
    expect(wordsOfCall(facts, unchanged)).toEqual({
      words: [
        { speaker: 'agent', text: 'Good', startMs: 1_100, endMs: 1_400, source: 'recogniser' },
        { speaker: 'agent', text: 'evening.', startMs: 1_500, endMs: 1_900, source: 'recogniser' },
      ],
      wordsFrom: { source: 'recogniser', model: 'small', times: 'word' },
    });
  });

  it('are spread over their piece if it gives none', () => {
    const { words, wordsFrom } = wordsOfCall(heard([piece(1_000, 2_000, 'ab cd efgh')]), unchanged);
    expect(words.map(({ startMs, endMs }) => [startMs, endMs])).toEqual([
      [1_000, 1_200],
      [1_300, 1_500],
      [1_600, 2_000],
    ]);
    expect(wordsFrom?.times).toBe('utterance');
  });

  it('belong to the sounds in which they were heard', () => {
    const agent = [agentSound(1_000, 2_000), agentSound(2_250, 3_000)];
    const words = timed(['One', 1_100, 1_900], ['two', 2_300, 2_900]);
    expect(speech(heard([piece(1_000, 3_000, 'One two', { words })], { agent }))).toMatchObject([
      { text: 'One', words: 'known' },
      { text: ' two', words: 'known', continues: true },
    ]);
  });

  it('are unknown where it gave none, and never ""', () => {
    const agent = [agentSound(1_000, 2_000), agentSound(4_000, 5_000)];
    const facts = heard([piece(1_000, 2_000, 'Hello'), piece(4_000, 5_000, null)], { agent });
    expect(speech(facts).map(({ words }) => words)).toEqual(['known', 'unknown']);
    expect(speech(heard([])).map(({ words }) => words)).toEqual(['unknown']);
    expect(wordsOfCall(heard([]), unchanged).wordsFrom).toBeNull();
  });

  it('are partly known if a part of a long sound was not understood', () => {
    const agent = [agentSound(1_000, 31_000)];
    const facts = heard([piece(1_000, 25_500, 'Hello'), piece(25_500, 31_000, null)], { agent });
    expect(speech(facts)).toMatchObject([{ text: 'Hello', words: 'partly' }]);
  });

  it('are none in a sound that is too short for one', () => {
    expect(speech(heard([], { agent: [agentSound(1_000, 1_080)] }))).toMatchObject([{ text: '', words: 'known' }]);
  });

  it('are uncertain at the last one where the agent was cut off', () => {
    const cut = heard([piece(1_000, 2_000, 'We are op')], { clears: [{ atMs: 2_000, droppedMs: 700 }] });
    expect(speech(cut)).toMatchObject([{ text: 'We are op', uncertain: [[7, 9]], interrupted: true }]);
    const end = { by: 'agent', code: 'agent_hung_up', reason: '', atMs: 2_000 } as const;
    expect(speech(heard([piece(1_000, 2_000, 'We are op')], { end }))).toMatchObject([{ uncertain: [[7, 9]] }]);
    expect(speech(heard([piece(1_000, 2_000, 'We are')]))[0]).not.toHaveProperty('uncertain');
  });

  it('are uncertain at the last one where an agent in a recording broke off while the caller spoke', () => {
    const agent = [agentSound(1_000, 2_000, { breaksOff: true })];
    const recording = { agent, imported: { callerEdgesMs: 40 }, caller: [line(1_600, 3_000)] };
    const said = [piece(1_000, 2_000, 'We are op')];
    const ofAgent = ({ speaker }: { speaker: string }) => speaker === 'agent';
    expect(speech(heard(said, recording)).filter(ofAgent)).toMatchObject([{ uncertain: [[7, 9]] }]);
    for (const other of [{ caller: [] }, { agent: [agentSound(1_000, 2_000)] }, { imported: undefined }]) {
      const [first] = speech(heard(said, { ...recording, ...other })).filter(ofAgent);
      expect(first).not.toHaveProperty('uncertain');
    }
  });
});

describe('what the agent generated', () => {
  const facts = (text: string, generated: string) =>
    heard([piece(1_000, 2_000, text)], {
      arrivals: [{ arrivedMs: 1_000, playedFromMs: 1_000, playedToMs: 2_000, item: 1 }],
      said: [{ atMs: 1_000, text: generated, final: true, item: 1 }],
    });

  it('is shown beside what was heard, if that is something else', () => {
    expect(speech(facts('A table at 19:13.', 'A table at 19:30.'))).toMatchObject([
      { text: 'A table at 19:13.', alternative: { source: 'wire', text: 'A table at 19:30.' } },
    ]);
  });

  it('is not shown if only the spelling is another one', () => {
    expect(speech(facts('a table at seven thirty p m', 'A table at 7:30 pm.'))[0]).not.toHaveProperty('alternative');
  });
});
