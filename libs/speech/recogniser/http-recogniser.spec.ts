import { OutboundClient } from '../../outbound-http/index.js';
import { tone } from '../../audio/index.js';
import { HttpRecogniser, type HttpRecogniserOptions, type ObservedTranscription } from './http-recogniser.js';
import type { ReceivedAudio, ServerAnswer } from '../../../test/simulators/transcription/transcription-server.js';
import { TranscriptionDouble } from '../../../test/simulators/transcription/transcription-double.js';

const outbound = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
const pcm = tone([440], { rate: 8_000, ms: 2_000, dbfs: -20 });
const servers: TranscriptionDouble[] = [];

async function recogniser(
  answer: (audio: ReceivedAudio) => ServerAnswer,
  options: Partial<HttpRecogniserOptions> = {},
) {
  const server = new TranscriptionDouble(answer);
  servers.push(server);
  const baseUrl = await server.start();
  const own = new HttpRecogniser({ baseUrl, concurrency: 4, outbound, ...options });
  const transcribe = (owner = '', signal?: AbortSignal) =>
    own.transcribe({ pcm, rate: 8_000, language: 'en', owner, ...(signal && { signal }) });
  return { server, transcribe };
}

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

const inVerbose = ({ fields }: ReceivedAudio) => fields['response_format'] === 'verbose_json';
const hello = [
  { text: 'Hello,', startMs: 100, endMs: 500 },
  { text: 'world.', startMs: 600, endMs: 1_000 },
];

describe('what is observed of transcriptions', () => {
  const observed: ObservedTranscription[] = [];
  const onTranscription = (one: ObservedTranscription) => observed.push(one);
  beforeEach(() => observed.splice(0));

  it('is once for each piece, with its length and its time without the wait for a turn', async () => {
    const answers = [{ body: { text: 'Hello.' }, afterMs: 40 }, { body: { text: '' } }, { status: 403, body: '' }];
    const { transcribe } = await recogniser(() => answers.shift()!, { concurrency: 1, onTranscription });
    await Promise.allSettled([transcribe(), transcribe(), transcribe()]);
    expect(observed.map(({ outcome, audioMs }) => [outcome, audioMs])).toEqual([
      ['recognised', 2_000],
      ['nothing', 2_000],
      ['failed', 2_000],
    ]);
    expect(observed[0]!.ms).toBeGreaterThan(35);
    expect(observed[1]!.ms).toBeLessThan(observed[0]!.ms);
  });

  it('is one failure after two tries, and nothing of what was aborted', async () => {
    const { transcribe, server } = await recogniser(() => ({ status: 500, body: '' }), { onTranscription });
    await expect(transcribe()).rejects.toThrow('status 500');
    expect([server.received.length, observed.map(({ outcome }) => outcome)]).toEqual([2, ['failed']]);
    await expect(transcribe('', AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
    expect(observed).toHaveLength(1);
  });
});

describe('what is sent to a transcription server', () => {
  it('is a WAV file of 16 kHz, with language, model and key', async () => {
    const { server, transcribe } = await recogniser(() => ({ body: { text: 'Hello' } }), {
      ...{ apiKey: 'secret', model: 'small' },
    });
    await transcribe();
    expect(server.received).toEqual([
      {
        fields: {
          ...{ model: 'small', language: 'en' },
          ...{ response_format: 'verbose_json', 'timestamp_granularities[]': 'word' },
        },
        authorization: 'Bearer secret',
        pcm: expect.objectContaining({ length: pcm.length * 2 }),
        rate: 16_000,
      },
    ]);
  });

  it('is no more at a time than the limit, and owners take turns', async () => {
    const { server, transcribe } = await recogniser(() => ({ body: { text: 'Hello' }, afterMs: 30 }), {
      concurrency: 2,
    });
    const order: string[] = [];
    await Promise.all(['a', 'a', 'a', 'a', 'b'].map((owner) => transcribe(owner).then(() => order.push(owner))));
    expect(server.most).toBe(2);
    expect(order.indexOf('b')).toBeLessThan(4);
  });
});

describe('the dialect of a transcription server', () => {
  it.each<[string, unknown]>([
    [
      'words at the top',
      {
        text: 'Hello, world.',
        words: [
          { word: 'Hello', start: 0.1, end: 0.5 },
          { word: 'world', start: 0.6, end: 1 },
        ],
      },
    ],
    [
      'words with leading spaces and times as text',
      {
        text: ' Hello, world.\n',
        words: [
          { word: ' Hello,', start: '0.1', end: '0.5' },
          { word: ' world.', start: '0.6', end: '1.0' },
        ],
      },
    ],
    [
      'pieces of words in segments',
      {
        text: ' Hello, world.\n',
        segments: [
          {
            words: [
              { word: ' Hel', start: 0.1, end: 0.3 },
              { word: 'lo', start: 0.3, end: 0.5 },
              { word: ',', start: 0.5, end: 0.5 },
              { word: ' world', start: 0.6, end: 1 },
              { word: '.', start: 1, end: 1 },
            ],
          },
        ],
      },
    ],
    [
      'no text beside its words',
      {
        words: [
          { word: 'Hello,', start: 0.1, end: 0.5 },
          { word: 'world.', start: 0.6, end: 1 },
        ],
      },
    ],
  ])('may be %s', async (_, body) => {
    const { transcribe } = await recogniser(() => ({ body }));
    const result = await transcribe();
    expect(result?.text).toBe('Hello, world.');
    expect(result?.words?.map((word) => ({ ...word, endMs: Math.round(word.endMs) }))).toEqual(hello);
  });

  it.each<[string, unknown]>([
    ['words that are null', { text: 'Hello, world.', words: null, segments: [] }],
    [
      'segments alone, with a duration as text',
      { duration: '2.0', segments: [{ text: ' Hello,' }, { text: ' world.' }] },
    ],
    [
      'times outside the audio',
      {
        text: 'Hello, world.',
        words: [
          { word: 'Hello', start: 0.1, end: 0.5 },
          { word: 'world', start: 0.6, end: 29 },
        ],
      },
    ],
    ['words that are not those of the text', { text: 'Hello, world.', words: [{ word: 'Bye', start: 0.1, end: 0.5 }] }],
  ])('may have no times: %s', async (_, body) => {
    const { transcribe } = await recogniser(() => ({ body }));
    expect(await transcribe()).toEqual({ text: 'Hello, world.' });
  });

  it.each([400, 404, 422, 500])('is remembered if it refuses times of words with %i', async (status) => {
    const { server, transcribe } = await recogniser((audio) =>
      inVerbose(audio)
        ? { status, body: { error: { message: 'timestamp_granularities[] not supported by this model' } } }
        : { body: { text: 'Hello' } },
    );
    expect([await transcribe(), await transcribe()]).toEqual([{ text: 'Hello' }, { text: 'Hello' }]);
    expect(server.received.map(inVerbose)).toEqual([true, false, false]);
  });

  it('may fail at times of words without saying so, and be asked for them again', async () => {
    const { server, transcribe } = await recogniser((audio) =>
      inVerbose(audio) ? { status: 500, body: 'Internal Server Error' } : { body: { text: 'Hello' } },
    );
    expect([await transcribe(), await transcribe()]).toEqual([{ text: 'Hello' }, { text: 'Hello' }]);
    expect(server.received.map(inVerbose)).toEqual([true, false, true, false]);
  });
});

describe('a transcription server that fails', () => {
  const host = /^The transcription server 127\.0\.0\.1:\d+ /;

  it.each([401, 403, 404])('with %i is not asked again', async (status) => {
    const { server, transcribe } = await recogniser(() => ({ status, body: 'Download it with POST /v1/models' }));
    await expect(transcribe()).rejects.toMatchObject({
      message: expect.stringMatching(new RegExp(`${host.source}answered with status ${status}$`)),
      isPermanent: true,
    });
    expect(server.received).toHaveLength(1);
  });

  it.each<[string, ServerAnswer]>([
    ['with 500', { status: 500, body: 'Internal Server Error' }],
    ['with 429', { status: 429, body: {} }],
    ['by closing the connection', 'hang up'],
    ['by being slow', { body: { text: 'Hello' }, afterMs: 60_000 }],
  ])('%s is asked twice', async (_, answer) => {
    const { server, transcribe } = await recogniser(() => answer, { timeoutMs: 300 });
    await expect(transcribe()).rejects.toMatchObject({ message: expect.stringMatching(host), isPermanent: false });
    expect(server.received).toHaveLength(2);
  });

  it('by being down is named with the code of the system and the setting that holds its address', async () => {
    const { server, transcribe } = await recogniser(() => ({ body: {} }), { setting: 'STT_BASE_URL' });
    await server.stop();
    await expect(transcribe()).rejects.toMatchObject({
      message: expect.stringMatching(new RegExp(`${host.source}\\(STT_BASE_URL\\) was not reached: ECONNREFUSED$`)),
      isPermanent: false,
    });
  });

  it('once gives its words at the second try', async () => {
    let tries = 0;
    const { transcribe } = await recogniser(() => (++tries === 1 ? 'hang up' : { body: { text: 'Hello' } }));
    expect(await transcribe()).toEqual({ text: 'Hello' });
  });

  it.each<[string, ServerAnswer]>([
    ['is not JSON', { body: '<html>' }],
    ['has no text', { body: { message: 'Hello' } }],
    ['is longer than 1 MiB', { body: { text: 'a '.repeat(600_000) } }],
  ])('by an answer that %s is an error', async (_, answer) => {
    const { transcribe } = await recogniser(() => answer);
    await expect(transcribe()).rejects.toMatchObject({ message: expect.stringMatching(host), isPermanent: true });
  });

  it('does not hold up what is aborted', async () => {
    const { transcribe } = await recogniser(() => ({ body: {}, afterMs: 60_000 }));
    const abort = new AbortController();
    const result = transcribe('', abort.signal);
    setTimeout(() => abort.abort(new Error('The call is over')), 50);
    await expect(result).rejects.toThrow('The call is over');
  });

  it('never has its key in an error', async () => {
    const { transcribe } = await recogniser(({ authorization }) => ({ status: 500, body: authorization }), {
      apiKey: 'secret-key',
    });
    const error: unknown = await transcribe().catch((thrown: unknown) => thrown);
    expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain('secret-key');
  });
});

describe('a text that cannot have been said', () => {
  it.each<[string, string]>([
    ['nothing', ''],
    ['marks alone', ' ... '],
    [
      'more than eight words a second',
      'one two three four five six seven eight nine ten and seven more of them than that',
    ],
    ['a phrase four times in a row', 'Thank you. Thank you. Thank you. Thank you.'],
  ])('is unknown: %s', async (_, text) => {
    const { transcribe } = await recogniser(() => ({ body: { text } }));
    expect(await transcribe()).toBeNull();
  });

  it('is not a digit four times in a row, nor a phrase three times', async () => {
    for (const text of ['five five five five', 'Thank you. Thank you. Thank you.']) {
      const { transcribe } = await recogniser(() => ({ body: { text } }));
      expect(await transcribe()).toEqual({ text });
    }
  });
});

it('makes control characters of a text visible and shortens it', async () => {
  const { transcribe } = await recogniser(() => ({ body: { text: `a\u0000\u202eb ${'.'.repeat(5_000)}` } }));
  const result = await transcribe();
  expect(result?.text).toMatch(/^a\u2400\[U\+202E\]b \.+$/);
  expect(result?.text).toHaveLength(4_000);
});
