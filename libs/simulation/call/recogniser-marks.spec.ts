import type { DefinitionInput } from '../../evaluation-definition/index.js';
import { OutboundClient } from '../../outbound-http/index.js';
import { HttpRecogniser } from '../../speech/index.js';
import { TranscriptionDouble } from '../../../test/simulators/transcription/transcription-double.js';
import {
  ASKING,
  BOOKS,
  call,
  FAULTY,
  HEALTHY,
  type Hearing,
  NEVER_FULL,
  outcomeOf,
  saidIn,
} from '../testing/recognised-calls.js';

describe('a recogniser that writes marks', () => {
  let written: (said: string) => string;
  const server = new TranscriptionDouble((audio) => ({ body: { text: written(saidIn(audio)) } }));
  let recogniser: HttpRecogniser;
  beforeAll(async () => {
    const outbound = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
    recogniser = new HttpRecogniser({ baseUrl: await server.start(), concurrency: 2, outbound });
  });
  afterAll(() => server.stop());

  const hears: Hearing = (_said, _request, clock, audio) => clock.awaitExternal(recogniser.transcribe(audio));
  const outcome = async (definition: DefinitionInput, writes: typeof written, script = HEALTHY) => {
    written = writes;
    return outcomeOf((await call(definition, { hears, script })).result);
  };
  const checking = (...checks: object[]) => ({ checks }) as unknown as DefinitionInput;
  const UNKNOWN = ['error', 'words_unknown'];
  const PASSED = ['passed', null];
  const FAILED = ['failed', null];

  it.each([
    ['AreevAI/flowcat#27', ' [BLANK_AUDIO]\n'],
    ['nikoelt/WhisperAttack#4', ' (speaking in foreign language)\n'],
    ['nikoelt/WhisperAttack#4', ' [inaudible]\n'],
    ['bugbakery/transcribee#25', '*Musik*'],
  ])('in place of all words leaves open what depends on them (%s): %j', async (_, mark) => {
    for (const script of [HEALTHY, FAULTY]) {
      for (const definition of [BOOKS, NEVER_FULL, { script: ASKING, ...BOOKS }]) {
        expect(await outcome(definition, () => mark, script)).toEqual(UNKNOWN);
      }
    }
  });

  it('behind words has no part in them, for any check (human37/open-wispr#73)', async () => {
    const behind = (said: string) => `${said} (gentle music) (gentle music)`;
    expect(await outcome(BOOKS, behind)).toEqual(PASSED);
    expect(await outcome(NEVER_FULL, behind)).toEqual(PASSED);
    expect(await outcome(NEVER_FULL, behind, FAULTY)).toEqual(FAILED);
    expect(await outcome({ script: ASKING, ...BOOKS }, behind)).toEqual(PASSED);
    expect(await outcome(checking({ type: 'never_says', text: 'music' }), behind)).toEqual(PASSED);
    expect(await outcome(checking({ type: 'max_answer_words', words: 12 }), behind)).toEqual(PASSED);
    expect(await outcome(checking({ type: 'max_answer_words', words: 11 }), behind)).toEqual(FAILED);
    expect(await outcome(checking({ type: 'speakable' }), (said) => `[Music] ${said}`)).toEqual(PASSED);
    expect(
      await outcome(checking({ type: 'language', language: 'en' }), (said) => `${said} (musique de fond)`),
    ).toEqual(PASSED);
  });

  it('in place of a word leaves open what the word could decide', async () => {
    const inaudible = (said: string) => said.replace(/booked|full/, '[inaudible]');
    expect(await outcome(BOOKS, inaudible)).toEqual(UNKNOWN);
    expect(await outcome(NEVER_FULL, inaudible, FAULTY)).toEqual(UNKNOWN);
    expect(await outcome(BOOKS, inaudible, FAULTY)).toEqual(UNKNOWN);
    expect(await outcome(checking({ type: 'says', text: 'good evening' }), inaudible)).toEqual(PASSED);
  });

  it('in place of half of the words leaves open what depends on them', async () => {
    const half = (said: string) => said.replace(/It is booked.|We are full.|A table .* I/, '[Music]');
    for (const script of [HEALTHY, FAULTY]) {
      expect(await outcome(BOOKS, half, script)).toEqual(UNKNOWN);
      expect(await outcome(NEVER_FULL, half, script)).toEqual(UNKNOWN);
    }
  });
});
