import { tmpdir } from 'node:os';
import path from 'node:path';
import { OutboundClient } from '../../../../libs/outbound-http/index.js';
import {
  CachedSpeech,
  FliteEngine,
  HttpRecogniser,
  probeRecogniser,
  type Recogniser,
} from '../../../../libs/speech/index.js';
import { behaviourOf } from '../faults.js';
import { FACTS } from '../restaurant.js';
import { OWN_VOICE } from './prepare.js';
import { startTranscription } from './transcription.js';

const TODAY = Date.UTC(2026, 11, 4, 10);

describe('the transcription server of the reference agent', () => {
  const engine = new FliteEngine();
  const speech = new CachedSpeech(engine, { folder: path.join(tmpdir(), 'reference-agent-speech') });
  let server: Awaited<ReturnType<typeof startTranscription>>;
  let recogniser: Recogniser;

  beforeAll(async () => {
    const lines = ['Until when are you open?', 'Thank you, goodbye.'];
    server = await startTranscription({
      port: 0,
      host: '127.0.0.1',
      speech,
      today: TODAY,
      lines,
      faults: ['wrong-fact'],
    });
    const outbound = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
    recogniser = new HttpRecogniser({ baseUrl: server.url, model: 'any', concurrency: 1, outbound });
  }, 180_000);
  afterAll(async () => {
    await server.close();
    await engine.close();
  });

  const heardOf = async (text: string) => {
    const { pcm } = await speech.synthesise({ text, voice: OWN_VOICE });
    return (await recogniser.transcribe({ pcm, rate: 8_000, language: 'en' }))?.text;
  };

  it('understands what the agent says, right or wrong, with the times of words', async () => {
    const right = FACTS.hours.slice(0, FACTS.hours.indexOf('.') + 1);
    const wrong = behaviourOf('wrong-fact').facts.hours;
    expect([await heardOf(right), await heardOf(wrong)]).toEqual([right, wrong]);
    expect(await heardOf('The moon is made of green cheese.')).not.toContain('moon');
    expect(await probeRecogniser(recogniser, { speech, voice: OWN_VOICE })).toMatchObject({
      wrongShare: 0,
      hasTimes: true,
    });
  });

  it.each([
    ['another path', '/v1/models', new FormData(), 404],
    ['a form without audio', '/v1/audio/transcriptions', new FormData(), 400],
    ['text', '/v1/audio/transcriptions', 'words', 400],
    ['more than 25 MiB', '/v1/audio/transcriptions', 'x'.repeat(26 * 1024 * 1024), 413],
  ])('refuses %s with the reason', async (_what, path, body, status) => {
    const response = await fetch(`${server.url}${path}`, { method: 'POST', body });
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ error: { message: expect.stringMatching(/\w/) } });
  });
});
