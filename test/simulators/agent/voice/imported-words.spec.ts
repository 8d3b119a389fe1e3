import type { CallResult, RecordingSink } from '../../../../libs/simulation/index.js';
import type { ListeningBehaviour } from '../../transcription/transcription-double.js';
import { sample } from '../../../../libs/statistics/testing/sample.js';
import { imported } from './testing/imported.js';
import {
  telephoneEvaluationOf,
  telephoneExpectationOf,
  type TelephoneWordCell,
  telephoneWordCells,
  TelephoneWords,
} from './testing/telephone-words.js';
import { VoiceCalls } from './testing/voice-call.js';

const calls = new VoiceCalls();
const words = new TelephoneWords(calls);
afterAll(async () => {
  await words.close();
  await calls.close();
});

const nameOf = ({ fault, key }: TelephoneWordCell): string => `${fault ?? 'healthy'} in ${key}`;
const CELLS = telephoneWordCells(1);
/** By its words. */
const failing = (cell: TelephoneWordCell): boolean => {
  const expected = telephoneExpectationOf(cell);
  return expected.outcome === 'failed' && expected.endCode === undefined;
};
const HEALTHY = CELLS.filter(({ fault, key }) => fault === undefined && key !== 'says-goodbye').filter(
  (_, index) => index % 3 === 0,
);
const FAULTY = CELLS.filter(failing).filter((_, index) => index % 24 === 1);
const IMPORTED = [...sample(HEALTHY), ...sample(FAULTY)];

async function record(cell: TelephoneWordCell) {
  const audio: Uint8Array[] = [];
  const recording: RecordingSink = { audio: (part) => audio.push(part), wire: () => undefined };
  const made = await words.call(cell, await words.recogniser(cell.key), recording);
  const evaluation = telephoneEvaluationOf(cell);
  // A recording does not show who hung up.
  const checks = evaluation.checks!.filter(({ type }) => type !== 'ends_by');
  return { made, audio, evaluation: { ...evaluation, checks } };
}

const RECORDED = new Map<string, ReturnType<typeof record>>();
function recorded(cell: TelephoneWordCell): ReturnType<typeof record> {
  const call = RECORDED.get(nameOf(cell)) ?? record(cell);
  RECORDED.set(nameOf(cell), call);
  return call;
}

/** What the agent was heard to say, by its sounds. */
const saidIn = ({ timeline }: CallResult) =>
  timeline.flatMap((entry) => (entry.type === 'speech' && entry.speaker === 'agent' ? [entry.text] : []));
/** Without what is not asked of the recording. */
const checksOf = ({ checks }: CallResult) =>
  checks.filter(({ type }) => type !== 'ends_by').map(({ name, met }) => [name, met]);

describe('a call that is imported from its own recording without a transcript', () => {
  it.each(IMPORTED.map((cell) => [nameOf(cell), cell] as const))(
    'has the words that the same recogniser heard on the call: %s',
    async (_name, cell) => {
      const { made, audio, evaluation } = await recorded(cell);
      const recogniser = await words.recogniser(cell.key);
      const again = await imported(made, evaluation, { audio }, { hasTranscript: false, recogniser });
      expect(saidIn(again)).toEqual(saidIn(made));
      expect(saidIn(made).join('')).not.toBe('');
      expect(again.voice?.wordsFrom).toEqual(made.voice?.wordsFrom);
      expect(checksOf(again)).toEqual(checksOf(made));
      expect(again.outcome).toBe(failing(cell) ? 'failed' : 'passed');
    },
  );

  const [healthy, faulty] = [IMPORTED[0]!, IMPORTED.at(-1)!];
  const always = (status: number, body: unknown): ListeningBehaviour => ({ failure: { status, body } });
  it.each<[string, ListeningBehaviour, string]>([
    ['is down', { failure: 'hang up' }, 'stt_failed'],
    ['refuses', always(401, {}), 'stt_failed'],
    ['hears no words', always(200, { text: '' }), 'words_unknown'],
    ['invents text', always(200, { text: 'Thank you. Thank you. Thank you. Thank you.' }), 'words_unknown'],
    ['mishears half of the words', { wordErrors: 0.5 }, 'words_unclear'],
  ])('blames no agent if the server %s', async (_name, behaviour, code) => {
    for (const cell of [healthy, faulty]) {
      const { made, audio, evaluation } = await recorded(cell);
      const recogniser = await words.recogniser(cell.key, behaviour);
      const again = await imported(made, evaluation, { audio }, { hasTranscript: false, recogniser });
      expect(again).toMatchObject({ outcome: 'error', failure: { code, fault: 'infrastructure' } });
    }
  });
});
