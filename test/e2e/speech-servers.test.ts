import { readWav } from '../../libs/audio/index.js';
import { failing, SPEECH_FAULTS, SpeechDouble, type SpeechFault, spoken } from '../simulators/speech/speech-double.js';
import { sample } from '../../libs/statistics/testing/sample.js';
import { personalityBody } from '../factories/bodies.js';
import { callEnv, executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { startVoiceAgent, type VoiceAgentServer } from '../support/voice-agent.js';

jest.setTimeout(180_000);

const KEY = 'key-of-the-speech-server';
const GREETING = 'Guten Tag, einen Tisch für zwei Personen, bitte.';
const FAULTS = sample(Object.keys(SPEECH_FAULTS) as SpeechFault[]);
const lineOf = (fault: SpeechFault) => `Zeile mit dem Fehler ${fault}.`;
const faultOf = (text: string) => FAULTS.find((fault) => lineOf(fault) === text);
/** Checks that the agent would fail if it were blamed, or would pass if nothing were checked. */
const checks = [
  { type: 'max_latency_ms', name: 'Answers in time', ms: 10_000 },
  { type: 'max_silence_ms', name: 'Is not silent', ms: 1 },
];

let speech: SpeechDouble;
let agent: VoiceAgentServer;
let app: TestApp;

beforeAll(async () => {
  speech = new SpeechDouble((received) => {
    const fault = faultOf(received.body.input);
    return fault ? failing(fault)(received) : spoken(received.body);
  });
  const [baseUrl, voiceAgent] = await Promise.all([speech.start(), startVoiceAgent({ lines: [] })]);
  agent = voiceAgent;
  const env = {
    ...callEnv(''),
    AGENT_PROVIDER_1_PROTOCOL: 'twilio-media-streams',
    AGENT_PROVIDER_1_URL: `${agent.url}/voice`,
    TTS_BASE_URL: `${baseUrl}/v1`,
    TTS_API_KEY: KEY,
    TTS_MODEL: 'double',
    TTS_VOICE_FEMALE: 'frauke',
    TTS_VOICE_MALE: 'moritz',
    TTS_LANGUAGES: 'de',
  };
  app = await createTestApp({ env });
});
afterAll(async () => {
  await app.close();
  await agent.close();
  await speech.stop();
});

const german = (values: object) => shortEvaluation({ language: 'de-DE', checks, ...values });
const callsOf = async (client: any, runId: string): Promise<any[]> => {
  const { body } = await client.get(`/runs/${runId}/calls?limit=100`);
  return Promise.all(body.data.map(async ({ id }: { id: string }) => (await client.get(`/calls/${id}`)).body.data));
};

/** Pitch of the loud parts, in hertz, from their zero crossings. */
function pitchOf(pcm: Int16Array, rate: number): number {
  const window = rate / 50;
  let crossings = 0;
  let samples = 0;
  for (let at = 0; at + window <= pcm.length; at += window) {
    const frame = pcm.subarray(at, at + window);
    if (Math.max(...frame) < 500) continue;
    samples += window;
    for (let n = 1; n < window; n++) if (frame[n - 1]! < 0 !== frame[n]! < 0) crossings++;
  }
  return (crossings / 2 / samples) * rate;
}

describe('callers that a speech server speaks for', () => {
  it('speak German, are heard and answered, with the voice of their personality; and English as before', async () => {
    const script = [{ say: GREETING }, { backchannel: 'yeah', afterMs: 300 }, { end: 'Answered' }];
    const english = shortEvaluation({
      name: 'English',
      script: [{ say: 'Good morning.' }, { end: 'Answered' }],
      checks,
    });
    const { client, agentId, apiKey } = await prepareEvaluations(app, [german({ script }), english]);
    const [call, other] = await callsOf(client, (await executeRun(client, agentId)).id);
    expect(call).toMatchObject({ outcome: 'failed', versions: { speech: expect.stringMatching(/^127.* double$/) } });
    expect(call.checks.map(({ met }: any) => met)).toEqual([true, false]);
    expect(call.voice.latencies[0]).toMatchObject({ answered: true, heardMs: expect.any(Number) });
    expect(call.voice.backchannels).toHaveLength(1);
    expect(call.words.filter(({ speaker }: any) => speaker === 'caller')).toEqual(
      GREETING.split(' ').map((text) => expect.objectContaining({ text, estimated: true })),
    );
    expect(speech.received.map(({ body }) => [body.input, body.voice])).toEqual([
      [GREETING, 'frauke'],
      ['Ja', 'frauke'],
    ]);
    const headers = { Authorization: `Bearer ${apiKey}` };
    const recording = await fetch(`${app.url}/calls/${call.id}/recording`, { headers });
    const { channels, rate } = readWav(new Uint8Array(await recording.arrayBuffer()));
    expect(Math.abs(pitchOf(channels[0]!, rate) - 440)).toBeLessThan(10);
    expect(other).toMatchObject({ versions: { speech: expect.stringMatching(/^flite /) } });
  });

  it('take audio from the cache, by voice', async () => {
    const script = [{ say: GREETING }, { end: 'Answered' }];
    const { client, agentId } = await prepareEvaluations(app, [german({ name: 'Same', script })]);
    for (const body of [
      personalityBody({ name: 'Man', gender: 'MALE' }),
      personalityBody({ name: 'Named', voice_id: 'anna' }),
    ]) {
      const { id: personalityId } = (await client.post('/personalities', body)).body.data;
      const evaluation = german({ name: body.name, script, personalityId });
      expect(await client.post(`/agents/${agentId}/evaluations`, evaluation)).toMatchObject({ status: 201 });
    }
    const before = speech.received.length;
    await executeRun(client, agentId);
    const voices = speech.received.slice(before).map(({ body }) => body.voice);
    expect(voices.sort()).toEqual(['anna', 'moritz']);
  });

  it('are refused in a language that no voice speaks, with the setting that adds it', async () => {
    const { client, agentId } = await prepareEvaluations(app, [german({ language: 'fr-FR' })]);
    const refused = await client.post(`/agents/${agentId}/runs`, {});
    expect(refused).toMatchObject({ status: 409 });
    expect(refused.body.issues[0].message).toContain(
      'its language is fr-FR, and the voices of the caller speak English, German ' +
        '(TTS_LANGUAGES names what the speech server speaks)',
    );
  });

  it('end as errors that name the server whatever it does wrong, and never blame the agent', async () => {
    const { client, agentId, apiKey } = await prepareEvaluations(
      app,
      FAULTS.map((fault) => german({ key: fault.replaceAll(' ', '-'), name: fault, script: [{ say: lineOf(fault) }] })),
    );
    const run = await executeRun(client, agentId, { concurrency: 30 });
    const calls = await callsOf(client, run.id);
    expect(calls).toHaveLength(FAULTS.length);
    const { host } = new URL(speechUrl());
    for (const call of calls) {
      const fault = call.evaluation.name as SpeechFault;
      const isRefused = fault === 'status 401' || fault === 'status 404';
      expect({ fault, ...call }).toMatchObject({
        fault,
        outcome: 'error',
        failure: { code: 'speech_failed', fault: 'infrastructure', retryable: !isRefused },
      });
      expect(call.attempts).toHaveLength(isRefused ? 1 : 3);
      expect(call.failure.message).toContain(`the speech server ${host} (TTS_BASE_URL) `);
      expect(call.failure.message).toContain(SPEECH_FAULTS[fault][1]);
    }
    const headers = { Authorization: `Bearer ${apiKey}` };
    const junit = await (await fetch(`${app.url}/runs/${run.id}/junit`, { headers })).text();
    const report = await (await fetch(`${app.url}/runs/${run.id}/report`, { headers })).text();
    expect(junit).toContain('speech_failed');
    expect(`${JSON.stringify(calls)}${junit}${report}`).not.toContain(KEY);
  });

  const speechUrl = () => `http://${String(speech.received[0]!.headers.host)}`;
});
