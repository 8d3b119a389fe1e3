import { encodeAlaw } from '../../../../audio/index.js';
import { pcmBytes, SOUNDS, toMulaw } from '../../../testing/telephone-sounds.js';
import { readEvent } from './messages.js';
import { flatSession, sessionOf } from './options.js';
import { codesOf, execute, spoken } from './testing/calls.js';
import {
  created,
  inOldNames,
  type RealtimeScript,
  speaks,
  updated,
} from '../../../../../test/simulators/openai-realtime/double/agent.js';

const TEXT = 'You can have a table for six people on Friday at seven, and twenty euros are needed for it.';
const SOUND_MS = 6_000;
const sound = (rate?: number): Int16Array => {
  const part = SOUNDS.speech!(8_000, rate);
  return Int16Array.from({ length: 3 * part.length }, (_, index) => part[index % part.length]!);
};
const pcm = (rate = 24_000): Uint8Array => pcmBytes(sound(rate));
const mulaw = (): Uint8Array => toMulaw(sound());
const json = (type: string, session?: object): string => JSON.stringify({ type, session });
const flat = (format: unknown) => ({
  modalities: ['audio', 'text'],
  input_audio_format: format,
  output_audio_format: format,
});
const nested = (format: unknown) => ({ type: 'realtime', audio: { input: { format }, output: { format } } });

/** A session whose first answer is this sound. */
const script = (session: object | undefined, answer: string[], onOpen = created()): RealtimeScript => ({
  onOpen: [{ send: [onOpen] }],
  onUpdate: [{ send: [json('session.updated', session)] }],
  onCreate: [[{ send: answer }]],
});

async function heard(given: RealtimeScript, options = {}) {
  const result = await execute(given, undefined, options);
  const [lane] = result.voice!.lanes.agent;
  const perMs = result.agent.heardBytes / result.measures.durationMs;
  return {
    ms: Math.round((lane!.endMs - lane!.startMs) / 400) * 400,
    toAgent: Math.round(perMs),
    codes: codesOf(result),
    result,
  };
}

describe('the audio of a session in its own format', () => {
  // speaches-ai/speaches (realtime/session.py), sgl-project/sglang-omni#385, sashirestela/simple-openai#316, livekit/agents#3497
  it.each([
    ['pcm16 in flat fields', flat('pcm16')],
    ['pcm in flat fields (Qwen-Omni-Realtime)', flat('pcm')],
    ['pcm-16 in flat fields (livekit/agents#1092)', flat('pcm-16')],
    ['a text', nested('pcm16')],
    ['a rate as text', nested({ type: 'audio/pcm', rate: '24000' })],
    ['a rate of null', nested({ type: 'audio/pcm', rate: null })],
    ['no format in a flat session', { modalities: ['audio', 'text'] }],
    ['no format, and old names of the events', { id: 'sess_1' }],
    ['no session, and old names of the events', undefined],
  ])('is PCM at 24 kHz in both directions: %s', async (_name, session) => {
    const found = await heard(script(session, inOldNames(speaks(1, TEXT, pcm()))));
    expect(found).toMatchObject({ ms: SOUND_MS, codes: ['other_format'] });
    // The first frames are sent before the first old name.
    expect(found.toAgent).toBeGreaterThan(47);
    expect(spoken(found.result)).toMatchObject([{ text: TEXT, words: 'known' }]);
  });

  it.each([
    [{ type: 'audio/pcm', rate: 16_000 }, 32, 16_000],
    [{ type: 'audio/pcm', rate: 48_000 }, 96, 48_000],
    ['audio/pcm;rate=16000', 32, 16_000],
    ['pcm_16000', 32, 16_000],
  ])('has the rate that is named (sgl-project/sglang#22848): %j', async (format, bytesPerMs, rate) => {
    const found = await heard(script(nested(format), speaks(1, TEXT, pcm(rate))));
    expect(found).toMatchObject({ ms: SOUND_MS, toAgent: bytesPerMs, codes: ['other_format'] });
  });

  it.each(['g711_ulaw', 'g711-ulaw', 'audio/pcmu', 'audio/x-mulaw', 'mulaw', 'PCMU', 'ulaw_8000'])(
    'is mu-law under each of its names: %s',
    async (format) => {
      expect(await heard(script(flat(format), speaks(1, TEXT, mulaw())))).toMatchObject({
        ms: SOUND_MS,
        toAgent: 8,
        codes: [],
      });
    },
  );

  it.each(['g711_alaw', 'audio/pcma', 'alaw'])('is A-law under each of its names: %s', async (format) => {
    const bytes = encodeAlaw(sound());
    expect(await heard(script(flat(format), speaks(1, TEXT, bytes)))).toMatchObject({
      ms: SOUND_MS,
      codes: ['other_format'],
    });
  });

  it('is what the bytes are where nothing names it', async () => {
    const found = await heard(script({ type: 'realtime' }, speaks(1, TEXT, pcm())));
    expect(found.codes).toContain('other_format');
    expect(found.codes).not.toContain('wrong_encoding');
    const old = await heard(script({ id: 'sess_1' }, inOldNames(speaks(1, TEXT, mulaw()))));
    expect(old.codes).not.toContain('wrong_encoding');
  });

  it.each(['opus', { type: 'audio/pcm', rate: 11_025 }])('is an error if it is not known: %j', async (format) => {
    const { outcome, failure } = await execute(script(nested(format), []));
    expect({ outcome, code: failure?.code }).toEqual({ outcome: 'error', code: 'not_ready' });
    expect(failure?.message).toMatch(/audio format (opus|audio\/pcm 11025)/);
  });

  // hkjarral/AVA-AI-Voice-Agent-for-Asterisk#192: "requested audio/pcmu, OpenAI silently defaulted to PCM16"
  it.each([
    ['PCM where the session has mu-law', { type: 'audio/pcmu' }, pcm],
    [
      'mu-law where the session has PCM (openai/openai-realtime-api-beta#18)',
      { type: 'audio/pcm', rate: 24_000 },
      mulaw,
    ],
  ])('is wrong if the bytes are %s', async (_name, format, bytes) => {
    const { codes, result } = await heard(script(nested(format), speaks(1, TEXT, bytes())));
    expect(codes).toContain('wrong_encoding');
    expect(result.voice!.wireFindings.find(({ code }) => code === 'wrong_encoding')).toMatchObject({
      severity: 'error',
    });
  });
});

describe('the fields of the first update', () => {
  const session = {
    instructions: 'You book tables.',
    audio: {
      input: { turn_detection: { type: 'server_vad' }, transcription: { model: 'whisper-1' } },
      output: { voice: 'alloy', speed: 1.1 },
    },
    max_output_tokens: 500,
    tools: [{ type: 'function', name: 'book' }],
  };
  const FLAT = {
    instructions: 'You book tables.',
    modalities: ['audio', 'text'],
    input_audio_format: 'g711_ulaw',
    output_audio_format: 'g711_ulaw',
    voice: 'alloy',
    speed: 1.1,
    max_response_output_tokens: 500,
    turn_detection: { type: 'server_vad' },
    input_audio_transcription: { model: 'whisper-1' },
    tools: [{ type: 'function', name: 'book' }],
  };
  const firstOf = async (onOpen: string, options: object = { session }) => {
    const { agent } = await execute({ ...script({}, []), onOpen: [{ send: [onOpen] }] }, undefined, { ...options });
    return agent.of('session.update');
  };

  // pipecat-ai/pipecat#1324 and juspay/clairvoyance#758: Azure's preview refuses `session.type` and `modalities: ["audio"]`
  it('are flat if the session was created flat', async () => {
    const updates = await firstOf(
      json('session.created', { object: 'realtime.session', ...flat('pcm16'), voice: 'alloy' }),
    );
    expect(updates.map((update) => update['session'])).toEqual([FLAT]);
  });

  // rudyll/stackchan-ai-server#9, mastra-ai/mastra#16940, OpenWhispr#811: OpenAI refuses `session.input_audio_format`
  it.each([
    ['a nested session', json('session.created', { type: 'realtime', audio: { output: { voice: 'marin' } } })],
    ['a session without formats', json('session.created', { id: 'sess_1' })],
    ['conversation.created (mudler/LocalAI#6445)', '{"type":"conversation.created"}'],
    ['transcription_session.created', '{"type":"transcription_session.created"}'],
  ])('are the present ones only with %s', async (_name, onOpen) => {
    const [update, ...more] = await firstOf(onOpen);
    expect(more).toEqual([]);
    expect(update!['session']).toMatchObject({
      type: 'realtime',
      audio: { input: { format: { type: 'audio/pcmu' } } },
    });
    expect(Object.keys(update!['session'] as object).join()).not.toMatch(/_format|\bmodalities/);
  });

  // juspay/neurolink#1005, NVIDIA nemotron-voice-agent#69: an update before session.created is lost
  it('are sent after 1 s if no session was created, and again if it is created then', async () => {
    const late = { onOpen: [{ afterMs: 3_000, send: [created()] }], onUpdate: [{ afterMs: 3_000, send: [updated()] }] };
    const { agent } = await execute(late);
    const [first, second, ...more] = agent.of('session.update');
    expect(more).toEqual([]);
    expect(Math.abs(second!.atMs - first!.atMs - 2_000)).toBeLessThanOrEqual(10);
  });

  it('are PCM in both forms for the wide line', () => {
    const wide = sessionOf({ line: 'wide' });
    expect(wide).toMatchObject({ audio: { output: { format: { type: 'audio/pcm', rate: 24_000 } } } });
    expect(flatSession(wide)).toMatchObject({ input_audio_format: 'pcm16', output_audio_format: 'pcm16' });
  });
});

describe('the answers of a session', () => {
  it.each([
    [{ turn_detection: { interrupt_response: false } }, false],
    [{ audio: { input: { turn_detection: { interrupt_response: false } } } }, false],
    [{ turn_detection: null }, true],
    [{ audio: null }, true],
  ])('can be interrupted unless it says otherwise, in either form: %j', (session, isInterruptible) => {
    expect(readEvent(json('session.updated', session))).toMatchObject({ isInterruptible });
  });
});
