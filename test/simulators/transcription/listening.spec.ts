import { decodeMulaw, encodeMulaw, Noise, NOISE_COLOURS, Random } from '../../../libs/audio/index.js';
import { OutboundClient } from '../../../libs/outbound-http/index.js';
import { FliteEngine, HttpRecogniser } from '../../../libs/speech/index.js';
import { LISTENING_DIALECTS, type ListeningBehaviour } from './listening.js';
import { SentenceListener } from './sentence-listener.js';
import { listeningServer, type TranscriptionDouble } from './transcription-double.js';

const SENTENCES = [
  'Good evening, this is the restaurant. How can I help you?',
  'For how many people?',
  'At what time would you like to come?',
  'Your table is booked for half past seven.',
  'Your table is booked for a quarter past seven.',
];

describe('the transcription server that listens', () => {
  const engine = new FliteEngine();
  const outbound = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
  const servers: TranscriptionDouble[] = [];
  let listener: SentenceListener;
  /** As heard on a telephone line, with silence around it. */
  let spoken: Int16Array[];

  beforeAll(async () => {
    const sounds = [];
    for (const text of SENTENCES) sounds.push(await engine.synthesise({ text, voice: 'slt' }));
    listener = new SentenceListener(sounds);
    spoken = sounds.map(({ pcm }) => onTheLine([silence(203), pcm, silence(240)]));
  }, 60_000);
  afterAll(async () => {
    for (const server of servers) await server.stop();
    await engine.close();
  });

  async function hearing(behaviour: ListeningBehaviour = {}) {
    const server = listeningServer(listener, behaviour);
    servers.push(server);
    const recogniser = new HttpRecogniser({ baseUrl: await server.start(), concurrency: 4, outbound });
    return (pcm: Int16Array) => recogniser.transcribe({ pcm, rate: 8_000, language: 'en' });
  }

  it('hears each sentence, also similar ones and softer ones', async () => {
    const hear = await hearing();
    for (const [index, sentence] of SENTENCES.entries()) {
      expect((await hear(spoken[index]!))?.text).toBe(sentence);
      expect((await hear(spoken[index]!.map((sample) => sample / 4)))?.text).toBe(sentence);
    }
  });

  it('knows nothing but the sound: exchanged sounds exchange the words', async () => {
    const hear = await hearing();
    const [one, other] = [spoken[1]!, spoken[3]!];
    expect([(await hear(other))?.text, (await hear(one))?.text]).toEqual([SENTENCES[3], SENTENCES[1]]);
  });

  it('hears several sentences in their order, and of one that was cut only the words that were said', async () => {
    const hear = await hearing();
    const both = Int16Array.from([...spoken[2]!, ...spoken[1]!]);
    expect((await hear(both))?.text).toBe(`${SENTENCES[2]} ${SENTENCES[1]}`);
    const begun = (await hear(spoken[0]!.subarray(0, 14_000)))?.text ?? '';
    expect(begun).toMatch(/^Good evening,/);
    expect(SENTENCES[0]!.startsWith(begun) && begun.length < SENTENCES[0]!.length).toBe(true);
  });

  it('hears no word in noise and silence', async () => {
    const hear = await hearing();
    const noises = NOISE_COLOURS.map((colour) => {
      const frame = new Float64Array(16_000);
      new Noise(colour, { dbfs: -30, random: new Random(3) }).addTo(frame);
      return Int16Array.from(frame);
    });
    for (const pcm of [...noises, silence(2_000)]) expect(await hear(pcm)).toBeNull();
  });

  it.each(LISTENING_DIALECTS)('is understood in the dialect %s', async (dialect) => {
    const hear = await hearing({ dialect });
    const result = await hear(spoken[3]!);
    expect(result?.text).toBe(SENTENCES[3]);
    expect(result?.words?.map(({ text }) => text)).toEqual(
      ['words', 'spaced', 'pieces'].includes(dialect) ? SENTENCES[3]!.split(' ') : undefined,
    );
  });

  it('mishears the given share of words, other ones at each request', async () => {
    const hear = await hearing({ wordErrors: 0.1, seed: 5 });
    const texts = [];
    for (let request = 0; request < 60; request++) texts.push((await hear(spoken[3]!))!.text);
    const said = SENTENCES[3]!.split(' ');
    const wrong = texts.map((text) => text.split(' ').filter((word, index) => word !== said[index]).length);
    const share = wrong.reduce((sum, count) => sum + count, 0) / (60 * said.length);
    expect(share).toBeGreaterThan(0.05);
    expect(share).toBeLessThan(0.15);
    expect(new Set(texts).size).toBeGreaterThan(10);
  });

  it('errs in the other ways of such servers', async () => {
    const invents = await hearing({ inventedText: 'Thank you. Thank you. Thank you. Thank you.' });
    expect(await invents(silence(3_000))).toBeNull();
    const isOff = await hearing({ timesOffMs: 60_000 });
    expect(await isOff(spoken[1]!)).toEqual({ text: SENTENCES[1] });
    const lacksModel = await hearing({ model: 'large' });
    await expect(lacksModel(spoken[1]!)).rejects.toMatchObject({ isPermanent: true });
    const fails = await hearing({ failure: { status: 500, body: 'Internal Server Error' } });
    await expect(fails(spoken[1]!)).rejects.toMatchObject({ isPermanent: false });
  });
});

const silence = (ms: number): Int16Array => new Int16Array(ms * 8);

const onTheLine = (parts: readonly Int16Array[]): Int16Array =>
  decodeMulaw(encodeMulaw(Int16Array.from(parts.flatMap((part) => [...part]))));
