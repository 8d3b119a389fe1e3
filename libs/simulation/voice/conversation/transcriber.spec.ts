import { tone } from '../../../audio/index.js';
import type { Recogniser, TranscriptionRequest } from '../../../speech/index.js';
import { VirtualClock } from '../../time/virtual-clock.js';
import type { HeardPiece } from '../facts/heard-piece.js';
import { agentSound } from '../testing/facts.js';
import { Transcriber } from './transcriber.js';

const RATE = 8_000;
const piece = (startMs: number, endMs: number, marginMs = 200): HeardPiece => ({
  ...{ startMs: startMs - marginMs, endMs: endMs + marginMs, rate: RATE },
  voice: { startMs, endMs },
  pcm: tone([300], { rate: RATE, ms: endMs - startMs + 2 * marginMs, dbfs: -20 }),
});

function transcriber(transcribe: Recogniser['transcribe'] = async () => ({ text: 'Hello' })) {
  const requests: TranscriptionRequest[] = [];
  const clock = new VirtualClock();
  const recogniser = {
    transcribe: (request: TranscriptionRequest) => {
      requests.push(request);
      return transcribe(request);
    },
  };
  const { signal } = new AbortController();
  const own = new Transcriber({ recogniser, model: null, language: 'de-AT', owner: 'call-1', clock, signal });
  return { own, requests, clock };
}
const question = (...spans: readonly (readonly [number, number])[]) =>
  spans.map(([startMs, endMs]) => ({ turn: 1, startMs, endMs, text: null }));

describe('the audio of a call', () => {
  it('is transcribed in the language of the call, on behalf of the call', async () => {
    const { own, requests } = transcriber();
    own.hear(piece(1_000, 2_000));
    await own.final();
    expect(requests).toMatchObject([{ language: 'de', owner: 'call-1', rate: RATE }]);
  });

  it('gets its words at their times in the call', async () => {
    const words = [{ text: 'Hello', startMs: 200, endMs: 700 }];
    const { own } = transcriber(async () => ({ text: 'Hello', words }));
    own.hear(piece(1_000, 2_000));
    expect(await own.final()).toEqual({
      model: null,
      pieces: [
        { startMs: 1_000, endMs: 2_000, text: 'Hello', words: [{ text: 'Hello', startMs: 1_000, endMs: 1_500 }] },
      ],
    });
  });

  it('is awaited for 30 s after the call; later words stay unknown', async () => {
    const { own, clock, requests } = transcriber(({ pcm }) =>
      pcm.length > 15_000 ? new Promise(() => undefined) : clock.sleep(20_000).then(() => ({ text: 'Hello' })),
    );
    own.hear(piece(1_000, 2_000));
    own.hear(piece(3_000, 5_000));
    const { pieces } = await own.final();
    expect(clock.now()).toBe(30_000);
    expect(pieces).toMatchObject([{ text: 'Hello' }, { text: null, failure: { code: 'stt_slow' } }]);
    expect(requests.map(({ signal }) => signal?.aborted)).toEqual([true, true]);
  });

  it('is heard again with each turn as one piece, and with silence where nothing was heard', async () => {
    const { own, requests } = transcriber();
    for (const one of [piece(1_000, 2_000), piece(3_000, 4_000), piece(9_000, 9_500)]) own.hear(one);
    await own.final();
    const agent = [agentSound(1_000, 2_000), agentSound(3_000, 4_000), agentSound(9_000, 9_500, { turn: 2 })];
    const again = await own.hearAgain(agent);
    expect(again).toMatchObject([
      { startMs: 1_000, endMs: 4_000 },
      { startMs: 9_000, endMs: 9_500 },
    ]);
    const [turn, other] = requests.slice(3);
    expect([turn!.pcm.length, other!.pcm.length]).toEqual([3_800 * 8, 1_300 * 8]);
    const loudest = (fromMs: number, toMs: number) =>
      Math.max(...turn!.pcm.slice(fromMs * 8, toMs * 8).map((sample) => Math.abs(sample)));
    expect([loudest(0, 200), loudest(1_600, 2_200), loudest(3_600, 3_800)]).toEqual([0, 0, 0]);
    expect(Math.min(loudest(400, 1_400), loudest(2_400, 3_400))).toBeGreaterThan(2_000);
  });

  it('is kept for ten minutes at most, and not heard again beyond that', async () => {
    const { own, requests } = transcriber();
    for (let n = 0; n < 25; n++) own.hear(piece(n * 30_000 + 1_000, n * 30_000 + 26_000));
    await own.final();
    expect(await own.hearAgain([agentSound(1_000, 26_000)])).toBeUndefined();
    expect(requests).toHaveLength(25);
  });
});

describe('the question of a turn', () => {
  it('has the words that are known, and null for those that are not', async () => {
    const { own } = transcriber();
    own.hear(piece(1_000, 2_000));
    expect(own.fill(question([1_000, 2_000]))).toEqual({ utterances: question([1_000, 2_000]) });
    await own.final();
    expect(own.fill(question([1_000, 2_000])).utterances).toMatchObject([{ text: 'Hello' }]);
    expect(own.fill(question([1_000, 2_000], [3_000, 4_000])).utterances).toMatchObject([
      { text: 'Hello' },
      { text: null },
    ]);
    expect(own.fill(question([1_000, 2_000], [3_000, 3_050])).utterances).toHaveLength(1);
  });

  it('says why words will stay unknown', async () => {
    const { own } = transcriber(async ({ pcm }) => {
      if (pcm.length > 15_000) throw new Error('The server is down');
      return null;
    });
    own.hear(piece(1_000, 2_000));
    own.hear(piece(3_000, 5_000));
    await own.final();
    expect(own.fill(question([1_000, 2_000])).failure).toMatchObject({ code: 'words_unknown' });
    expect(own.fill(question([3_000, 5_000])).failure).toMatchObject({ code: 'stt_failed', retryable: true });
  });
});
