import { Logger } from '@nestjs/common';
import { type DefinitionInput, normalise } from '../../../libs/evaluation-definition/index.js';
import type { TranscriptionMode } from '../../../libs/simulation/index.js';
import { FliteEngine, type SpeechEngine } from '../../../libs/speech/index.js';
import { type ServerAnswer, TranscriptionDouble } from '../../../test/simulators/transcription/transcription-double.js';
import type { Database } from '../../platform/database/database.js';
import { readSettings } from '../../platform/config/settings.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { AgentWords } from './agent-words.js';
import { CallMetrics } from './call-metrics.js';
import type { CallerVoices } from './caller-voices.js';

const TWILIO = 'twilio-media-streams';
const REALTIME = 'openai-realtime';
const script = [{ say: 'Hello.' }];
const NEEDING: DefinitionInput = { script, checks: [{ type: 'says', text: 'welcome' }] };
const TIMES: DefinitionInput = { script, checks: [{ type: 'max_turns', turns: 3 }] };
const JUDGED: DefinitionInput = { ...TIMES, criteria: [{ text: 'Polite.', required: false }] };
const MODEL = { LLM_BASE_URL: 'http://127.0.0.1:9/v1', LLM_MODEL: 'none' };
const SAID = 'Good evening, your table for four people is booked for Friday at seven.';

interface Asked {
  readonly protocol: string;
  readonly transcription: TranscriptionMode;
  readonly env: NodeJS.ProcessEnv;
}

/** Never speaks. */
const MUTE = { synthesise: () => new Promise<never>(() => undefined) };

describe('AgentWords', () => {
  const embedded = new FliteEngine();
  const logged: string[] = [];
  let answer: () => ServerAnswer;
  let server: TranscriptionDouble;
  let url: string;

  beforeEach(async () => {
    answer = () => ({ body: { text: SAID } });
    server = new TranscriptionDouble(() => answer());
    url = await server.start();
    logged.splice(0);
    for (const level of ['log', 'warn'] as const) {
      jest.spyOn(Logger.prototype, level).mockImplementation((...args: unknown[]) => {
        logged.push(`${level}: ${String(args[0])}`);
      });
    }
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await server.stop();
  });
  afterAll(() => embedded.close());

  /** @param speech without which no probe takes place */
  const create = (env: NodeJS.ProcessEnv = {}, speech: Pick<SpeechEngine, 'synthesise'> = embedded) => {
    const settings = readSettings({ STT_BASE_URL: url, ...env });
    const metrics = new Metrics({ poolState: { total: 0, idle: 0, waiting: 0 } } as Database, settings);
    return new AgentWords(settings, new CallMetrics(metrics, settings), { embedded: speech } as CallerVoices);
  };
  const asked = (
    definition: DefinitionInput,
    { protocol = TWILIO, transcription = 'auto', env = {} }: Partial<Asked> = {},
  ) => create(env, MUTE).options({ protocol, transcription }, normalise(definition)) !== undefined;
  const until = async (isReached: () => boolean) => {
    while (!isReached()) await new Promise((resolve) => setTimeout(resolve, 5));
  };

  it('transcribes calls that need words and have none, and all with STT_ALWAYS', () => {
    expect(asked(NEEDING)).toBe(true);
    expect(asked(TIMES)).toBe(false);
    expect(asked(TIMES, { env: { STT_ALWAYS: 'true' } })).toBe(true);
    expect(asked(JUDGED)).toBe(false);
    expect(asked(JUDGED, { env: MODEL })).toBe(true);
    expect(asked({}, { env: MODEL })).toBe(true);
  });

  it('transcribes recordings that need words, whatever their caller would need', () => {
    const recording = { protocol: 'recording' } as const;
    expect(asked(NEEDING, recording)).toBe(true);
    expect(asked(TIMES, recording)).toBe(false);
    expect(asked({ ...TIMES, script: [] }, { ...recording, env: MODEL })).toBe(false);
    expect(asked(NEEDING, { ...recording, transcription: 'off', env: { STT_ALWAYS: 'true' } })).toBe(false);
  });

  it('leaves words to a platform that reports them, unless what was heard is to count', () => {
    expect(asked(NEEDING, { protocol: REALTIME })).toBe(false);
    expect(asked(NEEDING, { protocol: REALTIME, env: { STT_ALWAYS: 'true' } })).toBe(false);
    expect(asked(NEEDING, { protocol: REALTIME, transcription: 'heard' })).toBe(true);
    expect(asked(TIMES, { protocol: REALTIME, transcription: 'heard' })).toBe(false);
  });

  it('transcribes nothing that is off, or without a server', () => {
    const env = { STT_ALWAYS: 'true' };
    expect(asked(NEEDING, { transcription: 'off', env })).toBe(false);
    expect(asked(NEEDING, { protocol: REALTIME, transcription: 'off', env })).toBe(false);
    expect(asked(NEEDING, { env: { STT_BASE_URL: '' } })).toBe(false);
  });

  it('probes the server at the first call that needs it and a day later, and not at others', async () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(0);
    const words = create();
    const call = (definition: DefinitionInput) =>
      words.options({ protocol: TWILIO, transcription: 'auto' }, normalise(definition));
    call(TIMES);
    call(NEEDING);
    call(NEEDING);
    await until(() => logged.length > 0);
    expect(logged).toEqual([
      `log: The transcription server works: "${SAID}" was heard as "${SAID}"; it gives no times of words`,
    ]);
    expect(server.received).toHaveLength(1);
    now.mockReturnValue(24 * 60 * 60 * 1_000);
    call(NEEDING);
    await until(() => logged.length > 1);
    expect(server.received).toHaveLength(2);
  });

  it('probes the server at the start of a worker, without waiting, and not in other processes', async () => {
    create({ ROLE: 'api' }).onApplicationBootstrap();
    create({ STT_BASE_URL: '' }).onApplicationBootstrap();
    const words = create({ ROLE: 'worker' });
    expect(words.onApplicationBootstrap()).toBeUndefined();
    expect(server.received).toHaveLength(0);
    words.options({ protocol: TWILIO, transcription: 'auto' }, normalise(NEEDING));
    await until(() => logged.length > 0);
    expect(logged).toEqual([expect.stringMatching(/^log: The transcription server works/)]);
    expect(server.received).toHaveLength(1);
  });

  it('ends a probe with the process, without a word about it', async () => {
    answer = () => ({ body: {}, afterMs: 60_000 });
    const words = create();
    words.onApplicationBootstrap();
    await until(() => server.received.length > 0);
    words.onApplicationShutdown();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(logged).toEqual([]);
  });

  it('probes a server that was down again at the next call, naming code of the system and setting', async () => {
    await server.stop();
    const words = create();
    const call = () => words.options({ protocol: TWILIO, transcription: 'auto' }, normalise(NEEDING));
    for (const times of [1, 2]) {
      call();
      await until(() => logged.length === times);
    }
    const line = /^warn: .* in vain: The transcription server 127\.0\.0\.1:\d+ \(STT_BASE_URL\) .*: ECONNREFUSED$/;
    expect(logged).toEqual([expect.stringMatching(line), expect.stringMatching(line)]);
  });

  it.each<[string, () => ServerAnswer, RegExp]>([
    [
      'of another language',
      () => ({ body: { text: 'Guten Abend' } }),
      /^warn: The transcription server is not usable for calls in English: 100 % of the words .* was heard as "Guten Abend"\. Check STT_MODEL$/,
    ],
    [
      'that mishears a third of the words',
      () => ({ body: { text: 'good evening your cable hard for people is good for friday at seven' } }),
      /^warn: The transcription server makes many mistakes: 31 % of the words are wrong .* at seven"\. Check STT_MODEL$/,
    ],
    [
      'that hears nothing',
      () => ({ body: { text: '' } }),
      /^warn: .* not usable .* was heard as nothing\. Check STT_MODEL$/,
    ],
    [
      'that writes a mark',
      () => ({ body: { text: '[Music]' } }),
      /^warn: .* not usable .* was heard as nothing\. Check STT_MODEL$/,
    ],
    ['that refuses the key', () => ({ status: 401, body: 'hunter2' }), /^warn: .* in vain: .* status 401$/],
  ])('warns of a server %s, without its key', async (_, answers, warning) => {
    answer = answers;
    create({ STT_API_KEY: 'hunter2' }).options({ protocol: TWILIO, transcription: 'auto' }, normalise(NEEDING));
    await until(() => logged.length > 0);
    expect(logged).toEqual([expect.stringMatching(warning)]);
    expect(logged[0]).not.toContain('hunter2');
  });

  it('does not warn of one wrong word of thirteen', async () => {
    answer = () => ({ body: { text: SAID.replace('table', 'cable') } });
    create().options({ protocol: TWILIO, transcription: 'auto' }, normalise(NEEDING));
    await until(() => logged.length > 0);
    expect(logged).toEqual([expect.stringMatching(/^log: The transcription server works/)]);
  });

  it('warns when more than half of the latest requests failed, with the figure', async () => {
    answer = () => ({ status: 403, body: '' });
    const { recogniser } = create({}, MUTE).options({ protocol: TWILIO, transcription: 'auto' }, normalise(NEEDING))!;
    const request = { pcm: new Int16Array(8_000), rate: 8_000, language: 'en' };
    for (let n = 0; n < 12; n++) await recogniser.transcribe(request).catch(() => undefined);
    const warnings = logged.filter((line) => line.includes('latest'));
    expect(warnings).toEqual([
      'warn: 10 of the latest 10 requests to the transcription server (STT_BASE_URL) failed; voice calls that depend on words end as error',
    ]);
  });
});
