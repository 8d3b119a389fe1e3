import { openaiRealtime } from './index.js';
import { codesOf, execute, spoken } from './testing/calls.js';
import { type Act, created, says, updated } from '../../../../../test/simulators/openai-realtime/double/agent.js';

const error = (fields: object): string => JSON.stringify({ event_id: 'e', ...fields });
const unsupported = error({
  type: 'error',
  error: { type: 'invalid_request_error', code: 'unsupported_field', message: 'Not supported', param: 'session.audio' },
});
const onUpdate = async (...acts: readonly Act[]) => execute({ onUpdate: acts });
const GREETING = [{ send: says(1, 'Good evening.', 900) }];
const noCall = { signal: new AbortController().signal };

describe('an error before the session is ready', () => {
  // speaches-ai/speaches (session_event_router.py): unsupported_field_error, then session.updated
  it('is a warning if the session is updated within a second', async () => {
    const acts = [{ send: [unsupported] }, { afterMs: 900, send: [updated()] }];
    const result = await execute({ onUpdate: acts, onCreate: [GREETING] });
    expect(codesOf(result)).toEqual(['error_event']);
    expect(result.voice!.wireFindings[0]!.detail).toContain('unsupported_field: Not supported (session.audio)');
    expect(spoken(result)).toHaveLength(1);
  });

  it.each([
    [
      'a text (vLLM)',
      { type: 'error', error: 'The model does not exist', code: 'model_not_found' },
      'model_not_found: The model does not exist',
    ],
    ['in the event itself', { type: 'error', message: 'The model does not exist' }, 'The model does not exist'],
    ['without a type', { error: { message: 'The model does not exist' } }, 'The model does not exist'],
    [
      'with a code that is a number',
      { type: 'error', error: { code: 404, message: 'No such model' } },
      '404: No such model',
    ],
    ['without words', { type: 'error', error: null }, error({ type: 'error', error: null })],
    [
      'a field that is too long (livekit/agents#1183)',
      {
        type: 'error',
        error: { code: 'string_above_max_length', message: 'Too long', param: 'session.tools[3].description' },
      },
      'string_above_max_length: Too long (session.tools[3].description)',
    ],
  ])('ends the call with its words if it is %s', async (_name, fields, said) => {
    const { outcome, failure } = await onUpdate({ send: [error(fields)] });
    expect({ outcome, failure }).toMatchObject({ outcome: 'error', failure: { code: 'platform_refused', said } });
  });

  // livekit/agents#6340 (Boson): the error, then a close with 4429
  it('is named with the code of the close that follows', async () => {
    const { failure } = await onUpdate(
      { send: [unsupported] },
      { afterMs: 20, close: { code: 4_429, reason: 'Too many' } },
    );
    expect(failure).toMatchObject({ code: 'platform_refused', fault: 'infrastructure' });
    expect(failure!.message).toMatch(/it closed the connection with code 4429 Too many.*unsupported_field/);
  });

  it('is repeated later if it says that there are too many requests', async () => {
    const limited = error({ type: 'error', error: { code: 'rate_limit_exceeded', message: 'Slow down' } });
    expect((await onUpdate({ send: [limited] })).failure).toMatchObject({ code: 'rate_limited', retryable: true });
  });

  // sgl-project/sglang-omni#385, sgl-project/sglang#22848, NVIDIA nemotron-voice-agent#45: PCM only
  it.each([
    ["Invalid value: 'audio/pcmu'", true],
    ['G.711 is not supported', true],
    ['g711_ulaw: not_supported', true],
    ['The model does not exist', false],
  ])('has the line as its cure if it is about G.711: %s', (said, isNamed) => {
    const session = openaiRealtime.session(
      { protocol: 'openai-realtime', url: 'ws://127.0.0.1/', headers: {}, firstSpeaker: null, options: {} },
      { client: {} as never, assistantId: '', phoneNumber: '', workspaceId: 'w-1', callId: 'c-1', ...noCall },
    );
    const failure = { code: 'platform_refused', message: '', fault: 'infrastructure', retryable: false, said } as const;
    expect(session.cure!('ready', failure)!.includes('line to wide')).toBe(isNamed);
  });
});

describe('a session that does not become ready', () => {
  it.each([
    ['nothing', { onOpen: [] }, 'nothing within 10 s'],
    // huggingface/speech-to-speech#413
    ['no session.updated', { onOpen: [{ send: [created()] }] }, 'session.created without session.updated within 10 s'],
    // docs.litellm.ai/docs/providers/xai_realtime
    [
      'an older event',
      { onOpen: [{ send: ['{"type":"conversation.created"}'] }] },
      'conversation.created without session.updated',
    ],
    ['text', { onOpen: [{ send: ['hello'] }] }, 'texts that are not events without session.updated'],
    ['bytes', { onOpen: [{ send: [Uint8Array.of(1, 255, 3)] }] }, 'binary messages without session.updated'],
  ])('says what came: %s', async (_name, script, words) => {
    const { failure, outcome } = await execute({ ...script, onUpdate: [] });
    expect({ outcome, code: failure?.code }).toEqual({ outcome: 'error', code: 'not_ready' });
    expect(failure!.message).toContain(words);
  });

  // BerriAI/litellm#28848
  it('is ready by a binary message with JSON', async () => {
    const result = await execute({
      onOpen: [{ send: [Buffer.from(created())] }],
      onUpdate: [{ send: [Buffer.from(updated())] }],
      onCreate: [GREETING],
    });
    expect(codesOf(result)).toEqual([]);
    expect(spoken(result)).toHaveLength(1);
  });
});

// openclaw/openclaw#65601: no Close frame, or 1011; "call ended" with a code of its own
describe('a connection that ends during the call', () => {
  it.each([1000, 1001, 1005])('is a hang-up with code %d', async (code) => {
    const result = await execute({ onCreate: [[...GREETING, { afterMs: 2_000, close: { code } }]] });
    expect(result.end).toMatchObject({ by: 'agent', code: 'agent_hung_up' });
  });

  it.each([1006, 1011, 4_000])('broke off with code %d', async (code) => {
    const result = await execute({ onCreate: [[...GREETING, { afterMs: 2_000, close: { code } }]] });
    expect(result.failure).toMatchObject({ code: 'connection_lost', retryable: true });
  });
});
