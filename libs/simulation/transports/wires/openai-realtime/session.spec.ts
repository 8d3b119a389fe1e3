import { OutboundClient } from '../../../../outbound-http/index.js';
import { openaiRealtime } from './index.js';

const KEY = 'sk-1234567890abcdef';
const { session: optionOf, line } = openaiRealtime.options;

const dial = (url: string, headers: Record<string, string> = {}) =>
  openaiRealtime
    .session(
      { protocol: 'openai-realtime', url, headers, firstSpeaker: null, options: {}, apiKey: KEY },
      { client: new OutboundClient(), assistantId: 'gpt-realtime', phoneNumber: '', workspaceId: 'w-1', callId: 'c-1' },
    )
    .dial({ signal: new AbortController().signal, onStep: () => undefined });

describe('the address and the key of a Realtime session', () => {
  it('are those of OpenAI by default', async () => {
    const { socket } = await dial(openaiRealtime.defaultUrl!);
    expect(socket).toEqual({
      url: 'wss://api.openai.com/v1/realtime?model=gpt-realtime',
      headers: { authorization: `Bearer ${KEY}`, 'x-call-id': 'c-1' },
      shownUrl: 'wss://api.openai.com/v1/realtime',
    });
  });

  it('may be those of Azure, which gets no other key', async () => {
    const url = 'wss://bella-vista.openai.azure.com/openai/v1/realtime?model=booking';
    const { socket, state } = await dial(url, { 'api-key': 'key-of-azure-123456' });
    // Azure takes a bearer for a token of Microsoft Entra.
    expect(socket).toEqual({
      url,
      headers: { 'api-key': 'key-of-azure-123456', 'x-call-id': 'c-1' },
      shownUrl: 'wss://bella-vista.openai.azure.com/openai/v1/realtime',
    });
    expect(state.secrets).toContain('key-of-azure-123456');
  });

  it('may be a token of Microsoft Entra in place of the key', async () => {
    const url = 'wss://bella-vista.openai.azure.com/openai/v1/realtime?model={assistantId}';
    const { socket } = await dial(url, { authorization: 'Bearer token-of-entra-123456' });
    expect(socket).toMatchObject({ url: url.replace('{assistantId}', 'gpt-realtime') });
    expect(socket!.headers).toEqual({ authorization: 'Bearer token-of-entra-123456', 'x-call-id': 'c-1' });
  });

  it.each([
    'ws://api.openai.com/v1/realtime',
    'ws://api.openai.com./v1/realtime',
    'ws://bella-vista.openai.azure.com/openai/v1/realtime',
    'ws://bella-vista.cognitiveservices.azure.com/openai/v1/realtime',
    'ws://bella-vista.services.ai.azure.com/openai/v1/realtime',
    'ws://bella-vista.openai.azure.us/openai/v1/realtime',
  ])('are not sent to the platform without TLS: %s', async (url) => {
    await expect(dial(url)).rejects.toThrow(/over TLS only/);
    await expect(dial(url)).rejects.not.toThrow(KEY);
  });
});

describe('the options of a Realtime session', () => {
  it.each([
    [{ instructions: 'You book tables.', tools: [{ type: 'function', name: 'book' }] }, undefined],
    [{ audio: { input: { turn_detection: { type: 'semantic_vad' } }, output: { voice: 'marin' } } }, undefined],
    ['text', 'must be an object'],
    [{ type: 'transcription' }, 'must have the type realtime'],
    [{ audio: [] }, 'must have an object as audio'],
    [{ audio: { output: 'marin' } }, 'must have an object as audio.output'],
    [
      { audio: { input: { format: { type: 'audio/pcm' } } } },
      'must not set audio.input.format: the option line sets it',
    ],
    [{ audio: { input: { turn_detection: null } } }, expect.stringMatching(/^must not set .* to null/)],
    [{ output_modalities: ['text'] }, 'must have audio in output_modalities'],
    [{ tools: [{ type: 'mcp' }] }, expect.stringMatching(/^must have tools of the type function only/)],
    [{ tools: {} }, expect.stringMatching(/^must have tools of the type function only/)],
    [{ instructions: 'x'.repeat(70_000) }, 'must have at most 65536 characters of JSON'],
  ])('has the settings of the session checked: %j', (value, violation) => {
    expect(optionOf!.violation(value)).toEqual(violation);
  });

  it('has one of two lines', () => {
    expect(['telephone', 'wide', 'narrow', 8_000].map((value) => line!.violation(value))).toEqual([
      undefined,
      undefined,
      'must be telephone or wide',
      'must be telephone or wide',
    ]);
    expect([{}, { line: 'wide' }].map((options) => openaiRealtime.lineRate(options))).toEqual([8_000, 24_000]);
  });
});
