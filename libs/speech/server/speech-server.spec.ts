import { OutboundClient } from '../../outbound-http/index.js';
import type { SpeechError } from '../sound.js';
import { SpeechServer } from './speech-server.js';
import {
  failing,
  type ReceivedText,
  SPEECH_FAULTS,
  type SpeechAnswer,
  SpeechDouble,
  type SpeechFault,
  soundFor,
  spoken,
  wav,
  withSizes,
} from '../../../test/simulators/speech/speech-double.js';

const KEY = 'top-secret-key';
const text = 'Good morning, one coffee please.';
const request = { text, voice: 'anna' };
const outbound = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
const opened: { readonly double: SpeechDouble; readonly engine: SpeechServer }[] = [];

async function started(answer?: (received: ReceivedText, count: number) => SpeechAnswer, path = '') {
  const double = new SpeechDouble(answer);
  const url = await double.start();
  const options = { baseUrl: `${url}${path}`, setting: 'TTS_BASE_URL', apiKey: KEY, model: 'm', outbound };
  const engine = new SpeechServer({ ...options, timeoutMs: 2_000, pauseMs: 1 });
  opened.push({ double, engine });
  return { double, received: double.received, engine, host: new URL(url).host };
}

afterEach(async () => {
  for (const { double, engine } of opened.splice(0)) await Promise.all([double.stop(), engine.close()]);
});

const errorOf = async (work: Promise<unknown>): Promise<SpeechError> => {
  const error: unknown = await work.catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'SpeechError' });
  return error as SpeechError;
};
const msOf = ({ speechStart, speechEnd, rate = 8_000 }: { speechStart: number; speechEnd: number; rate?: number }) =>
  ((speechEnd - speechStart) / rate) * 1_000;

describe('SpeechServer', () => {
  it('asks for WAV that is not streamed, with model, voice, speed and key', async () => {
    const { engine, received } = await started();
    await engine.synthesise({ ...request, rate: 1.2, owner: 'workspace' });
    const fixed = { response_format: 'wav', stream: false };
    expect(received[0]!.body).toEqual({ model: 'm', input: text, voice: 'anna', speed: 1.2, ...fixed });
    expect(received[0]!.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  it.each(['', '/', '/v1', '/v1/'])('finds the server at an address that ends with "%s"', async (path) => {
    const { engine, received } = await started(undefined, path);
    await engine.synthesise(request);
    expect(received).toHaveLength(1);
  });

  it.each([
    [8_000, undefined],
    [16_000, 16_000],
    [22_050, 16_000],
    [24_000, 24_000],
    [44_100, 24_000],
    [48_000, 24_000],
  ])('takes the rate %d from the header, and keeps its band for wide lines', async (rate, kept) => {
    const { engine } = await started(() => ({ body: wav({ rate }) }));
    const sound = await engine.synthesise(request);
    expect(sound.rate).toBe(kept);
    expect(Math.abs(msOf(sound) - 2_000)).toBeLessThan(5);
    expect(sound.pcm.length).toBeLessThan(2.05 * (kept ?? 8_000));
  });

  it('spreads the words over the sound, and marks their times as estimated', async () => {
    const { engine } = await started();
    const { words, pcm, rate } = await engine.synthesise(request);
    expect(words.map((word) => word.text)).toEqual(text.split(' '));
    expect(words.every(({ estimated }) => estimated)).toBe(true);
    const times = words.flatMap(({ startMs, endMs }) => [startMs, endMs]);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times.at(-1)).toBeGreaterThan((pcm.length / rate!) * 1_000 * 0.9);
  });

  it.each([0, 0x7fff_ffff, 0xffff_ffff, 2_000_000_000])('reads a stream that declares %d bytes', async (size) => {
    const { engine } = await started(() => ({ body: withSizes(wav(), size) }));
    expect(Math.abs(msOf(await engine.synthesise(request)) - 2_000)).toBeLessThan(5);
  });

  it.each([
    ['and nothing else is behind it', ''],
    ['and texts are behind it', 'LIST\x04\0\0\0INFO'],
  ])('reads a line to its end if the header declares a twentieth of it, %s', async (_, behind) => {
    const stale = Buffer.concat([withSizes(wav(), 4_800), Buffer.from(behind, 'latin1')]);
    const { engine } = await started(() => ({ body: stale }));
    expect(Math.abs(msOf(await engine.synthesise(request)) - 2_000)).toBeLessThan(5);
  });

  it('does not take a part of a line for all of it', async () => {
    const { engine } = await started(() => ({
      body: Buffer.concat([wav({ ms: 150 }), Buffer.from('LIST\x04\0\0\0INFO')]),
    }));
    expect((await errorOf(engine.synthesise(request))).message).toContain('too short');
  });

  it.each([0xffff_ffff, 96_000])('does not play texts behind the audio of a file that declares %d', async (size) => {
    const audio = withSizes(wav(), size);
    const trailer = Buffer.from('LIST\x40\0\0\0INFO'.padEnd(72, '\x7f'), 'latin1');
    const { engine } = await started(() => ({ body: Buffer.concat([audio, trailer]) }));
    const plain = await started(() => ({ body: wav() }));
    expect((await engine.synthesise(request)).pcm).toEqual((await plain.engine.synthesise(request)).pcm);
  });

  it('accepts a header that counts itself as audio', async () => {
    const { engine } = await started(() => ({ body: withSizes(wav(), 96_044) }));
    expect(Math.abs(msOf(await engine.synthesise(request)) - 2_000)).toBeLessThan(5);
  });

  it.each([400, 422])('leaves out "stream" from then on if the server refuses it with %d', async (status) => {
    const refusal = { status, type: 'application/json', body: '{"detail":"stream: extra field"}' };
    const { engine, received } = await started(({ body }) => ('stream' in body ? refusal : spoken(body)));
    await engine.synthesise(request);
    await engine.synthesise(request);
    expect(received.map(({ body }) => 'stream' in body)).toEqual([true, false, false]);
  });

  it('tries a bad sound again', async () => {
    const { engine, received } = await started((one, count) =>
      count < 3 ? failing('silence')(one) : spoken(one.body),
    );
    expect(msOf(await engine.synthesise(request))).toBeGreaterThan(1_000);
    expect(received).toHaveLength(3);
  });

  it.each(Object.keys(SPEECH_FAULTS) as SpeechFault[])(
    'names the server and the fault, not the key: %s',
    async (fault) => {
      const { engine, received, host } = await started(failing(fault));
      const error = await errorOf(engine.synthesise(request));
      expect(error.message).toContain(`the speech server ${host} (TTS_BASE_URL) `);
      expect(error.message).toContain(SPEECH_FAULTS[fault][1]);
      expect(error.message).not.toContain(KEY);
      const isRefused = fault === 'status 401' || fault === 'status 404';
      expect(error.isPermanent).toBe(isRefused);
      expect(received).toHaveLength(isRefused ? 1 : 3);
    },
  );

  it.each([
    [400, 'voice "anna" is unknown', true],
    [422, 'speed must be at most 1', true],
    [429, 'slow down', false],
    [503, 'loading', false],
  ])('repeats what a server said with status %d', async (status, body, isPermanent) => {
    const { engine, received } = await started(() => ({ status, body: `${body} (key ${KEY})` }));
    const error = await errorOf(engine.synthesise(request));
    expect(error.message).toContain(`answered with status ${status}: ${body} (key [redacted])`);
    expect(error.isPermanent).toBe(isPermanent);
    expect(received).toHaveLength(isPermanent ? 1 : 3);
  });

  it('gives up a server that is too slow', async () => {
    const { engine, received } = await started(({ body }) => ({ ...spoken(body), afterMs: 60_000 }));
    const error = await errorOf(engine.synthesise(request));
    expect(error.message).toContain('did not answer in time');
    expect([error.failure, error.isPermanent, received.length]).toEqual(['timeout', false, 3]);
  }, 15_000);

  it('follows no redirect, which would take the key to another server', async () => {
    const { engine, received } = await started(() => ({ status: 307 }));
    expect((await errorOf(engine.synthesise(request))).message).toContain('answered with status 307');
    expect(received).toHaveLength(1);
  });

  it('does not ask for a text that no engine speaks', async () => {
    const { engine, received } = await started();
    for (const wrong of [' ', 'x'.repeat(4_097)]) {
      expect((await errorOf(engine.synthesise({ ...request, text: wrong }))).failure).toBe('request');
    }
    expect(received).toEqual([]);
  });

  it('makes four requests at a time, and lets owners take turns', async () => {
    const { engine, double, received } = await started(({ body }) => ({ body: soundFor(body), afterMs: 250 }));
    const ask = (owner: string, n: number) => engine.synthesise({ text: `${owner} ${n}`, voice: 'anna', owner });
    const many = Array.from({ length: 12 }, (_, n) => ask('many', n));
    await Promise.all([ask('one', 0), ...many]);
    expect(double.most).toBe(4);
    expect(received.findIndex(({ body }) => body.input === 'one 0')).toBeLessThanOrEqual(5);
  });

  it('throws the reason of a signal, and makes no request that is not wanted any more', async () => {
    const { engine, received } = await started(({ body }) => ({ ...spoken(body), afterMs: 60_000 }));
    const abort = new AbortController();
    const waiting = Array.from({ length: 6 }, () => engine.synthesise(request, abort.signal).catch(String));
    while (received.length < 4) await new Promise((resolve) => setTimeout(resolve, 5));
    abort.abort(new Error('The call has ended'));
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['Error: The call has ended']));
    await expect(engine.synthesise(request, abort.signal)).rejects.toThrow('The call has ended');
    expect(received).toHaveLength(4);
  });

  it('has a name and a version by which sounds are cached: server and model', async () => {
    const options = { setting: 'TTS_BASE_URL', outbound };
    const keyOf = (baseUrl: string, model?: string) => {
      const { name, version } = new SpeechServer({ ...options, baseUrl, model });
      return `${name} ${version}`;
    };
    const keys = [keyOf('http://a', 'x'), keyOf('http://a', 'y'), keyOf('http://a'), keyOf('http://b', 'x')];
    expect(new Set(keys).size).toBe(4);
    expect(keyOf('http://a/v1/', 'x')).toBe(keys[0]);
  });
});
