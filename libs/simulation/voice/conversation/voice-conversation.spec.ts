import { normalise } from '../../../evaluation-definition/index.js';
import type { Caller } from '../../callers/caller.js';
import { RealClock } from '../../time/clock.js';
import { CallFailure } from '../../timeline/failure.js';
import { Timeline } from '../../timeline/timeline.js';
import { SOUNDS } from '../testing/virtual-calls.js';
import type { VoiceCallOptions, VoiceTransport } from '../wire/voice-transport.js';
import { runVoiceConversation, type VoiceOptions } from './voice-conversation.js';

const caller = { kind: 'generated', ahead: async () => undefined } as unknown as Caller;

/** A conversation that ends before it begins, after what the transport does. */
async function begun(
  act: (options: VoiceCallOptions) => Promise<unknown>,
  { language = 'ja', ...voice }: Partial<VoiceOptions> & { readonly language?: string } = {},
) {
  const transport = {
    name: 'none',
    lineRate: 8_000,
    clock: 'heard',
    call: async (options: VoiceCallOptions) => {
      await act(options);
      throw new CallFailure('connection_failed');
    },
  } as unknown as VoiceTransport;
  return runVoiceConversation({
    transport,
    definition: normalise({ fillers: true }),
    caller,
    clock: new RealClock(),
    language,
    voice: { sounds: SOUNDS, voice: 'anna', ...voice },
    timeline: new Timeline(),
    signal: new AbortController().signal,
  });
}

describe('runVoiceConversation', () => {
  it.each([
    ['en-GB', ['Um', 'Let me see']],
    ['de-AT', ['Ähm', 'Mal sehen']],
    ['ja', []],
  ])('prepares fillers in the language %s', async (language, names) => {
    const spoken: string[] = [];
    const sounds: VoiceOptions['sounds'] = {
      ...SOUNDS,
      synthesise: (request, signal) => {
        spoken.push(`${request.voice}: ${request.text}`);
        return SOUNDS.synthesise(request, signal);
      },
    };
    let fillers: unknown;
    await begun(
      async ({ plan }) => {
        fillers = plan.fillers?.map(({ text }) => text);
      },
      { sounds, language },
    );
    expect(fillers).toEqual(names);
    expect(spoken).toEqual(names.map((name) => `anna: ${name}`));
  });

  it.each([
    [undefined, 'rms'],
    ['moritz', 'moritz'],
  ])('speaks for a platform with the voice %s', async (platformVoice, voice) => {
    const voices: string[] = [];
    const sounds: VoiceOptions['sounds'] = {
      ...SOUNDS,
      synthesise: (request) => {
        voices.push(request.voice);
        return SOUNDS.synthesise(request);
      },
    };
    const options = { sounds, ...(platformVoice !== undefined && { platformVoice }) };
    const { failure } = await begun(({ speak }) => speak!('Welcome'), options);
    expect(voices).toEqual([voice]);
    expect(failure?.code).toBe('connection_failed');
  });

  it.each([
    ['a server that fails', { failure: 'engine', isPermanent: false }, true],
    ['a server that refuses', { failure: 'engine', isPermanent: true }, false],
    ['a bad sound', { failure: 'silent', isPermanent: false }, true],
  ])('blames %s for a platform that cannot speak, not the agent', async (_what, properties, retryable) => {
    const error = Object.assign(new Error('the speech server a.example failed'), properties);
    const sounds: VoiceOptions['sounds'] = { ...SOUNDS, synthesise: () => Promise.reject(error) };
    const { failure } = await begun(({ speak }) => speak!('Welcome'), { sounds });
    expect(failure).toMatchObject({ code: 'speech_failed', fault: 'infrastructure', retryable });
    expect(failure?.message).toContain('a.example');
  });

  it('leaves a text that no voice can speak to the platform', async () => {
    const error = Object.assign(new Error('no letters'), { failure: 'silent', isPermanent: true });
    const sounds: VoiceOptions['sounds'] = { ...SOUNDS, synthesise: () => Promise.reject(error) };
    const spoken = begun(({ speak }) => speak!('Welcome').catch((reason: unknown) => expect(reason).toBe(error)), {
      sounds,
    });
    expect((await spoken).failure?.code).toBe('connection_failed');
    expect.assertions(2);
  });
});
