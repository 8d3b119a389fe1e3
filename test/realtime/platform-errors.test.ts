import { normalise } from '../../libs/evaluation-definition/index.js';
import { OutboundClient } from '../../libs/outbound-http/index.js';
import { VoiceCalls } from '../simulators/agent/testing/voice.js';
import { type CallResult, executeCall, mediaThreads, transportTo } from '../../libs/simulation/index.js';
import { ElevenLabsServer, server } from '../../libs/simulation/testing/elevenlabs.js';
import { audio, client as messages, VapiServer } from '../../libs/simulation/testing/vapi.js';
import { until } from '../support/until.js';

const KEY = 'sk_of_the_test_1234567890';
const EVALUATION = {
  ...{ key: 'errors', personalityId: 'any', name: 'Errors', scenarioText: 'You listen.' },
  script: [{ waitSeconds: 3 }, { end: 'Done' }],
};

type ElevenLabs = NonNullable<Parameters<typeof ElevenLabsServer.start>[0]>;
type Vapi = NonNullable<Parameters<typeof VapiServer.start>[0]>;
/** What goes wrong, the code of the error, the words of the platform and the fix. */
type ErrorOf<Options> = readonly [what: string, Options, code: string, said: string, cure: string];

const closing = (code: number, reason: string): ElevenLabs => ({
  script: { onStart: [{ send: [server.metadata()], close: { code, reason } }] },
});
const says = (error: ReturnType<typeof server.error>): ElevenLabs => ({
  script: { onStart: [{ send: [server.metadata(), error], close: { code: 1000 } }] },
});
const refused = (status: number, code: string, message: string): ElevenLabs => ({
  refusal: { status, body: JSON.stringify({ detail: { status: code, message } }) },
});

/** BasedHardware/omi#5269: all WebSockets of a voice service were answered so, by what is in front of it. */
const FAILS = '500 Internal Server Error';

const ERRORS: readonly ErrorOf<ElevenLabs>[] = [
  ['a wrong key', { apiKey: 'another' }, 'platform_refused', 'Invalid API key', 'check the apiKey'],
  [
    'a key without permission',
    refused(403, 'missing_permissions', 'The API key lacks convai_write'),
    ...(['platform_refused', 'lacks convai_write', 'check the apiKey'] as const),
  ],
  ['an unknown agent', { agentId: 'another' }, 'platform_refused', 'does not exist', 'check the assistantId'],
  [
    'no credit',
    refused(401, 'quota_exceeded', 'This request exceeds your quota of 10000'),
    ...(['platform_refused', 'exceeds your quota', 'check the credit and the plan'] as const),
  ],
  [
    'no credit, noticed later',
    closing(1008, 'This request exceeds your quota limit.'),
    ...(['platform_refused', 'exceeds your quota', 'check the credit and the plan'] as const),
  ],
  ['too many calls', { maxCalls: 0 }, 'rate_limited', 'Too many concurrent calls', 'raise the limit of the account'],
  [
    'too many calls, noticed later',
    closing(1008, 'Too many concurrent conversations'),
    ...(['rate_limited', 'Too many concurrent', 'raise the limit of the account'] as const),
  ],
  [
    'a refused override',
    closing(1008, "Override for field 'text_only' is not allowed by config."),
    ...(['override_refused', 'is not allowed by config', 'allow the override "Text only"'] as const),
  ],
  [
    'a missing variable',
    { required: ['customer_name'] },
    ...(['platform_refused', 'dynamic variables in first message: customer_name', 'in its option variables'] as const),
  ],
  ['an expired address', { validMs: -1 }, 'platform_refused', 'HTTP 403', 'check the clock of the service'],
  ['a WebSocket that fails', { refusesUpgrade: FAILS }, 'http_status', 'HTTP 500', 'in place of a WebSocket upgrade'],
  ['code 1008', closing(1008, 'Blocked by policy'), 'platform_refused', 'Blocked by policy', 'in ElevenLabs'],
  ['code 1011', closing(1011, 'Internal error'), 'agent_error', 'Internal error', 'in ElevenLabs'],
  [
    'an error message, then a close',
    says(server.error(1011, 'llm_timeout', 'The language model took too long')),
    ...(['agent_error', 'took too long', 'in ElevenLabs'] as const),
  ],
  [
    'the maximum duration',
    says(server.error(1008, 'max_duration_exceeded', 'Max duration reached')),
    ...(['platform_refused', 'Max duration reached', 'raise the maximum duration'] as const),
  ],
];

const answers = (status: number, message: string): Vapi => ({
  refusal: { status, body: JSON.stringify({ message, statusCode: status }) },
});
const BUSY = 'raise the limit of the organisation';

/** A variable that is missing is none of them: the platform leaves it empty, and the plan of a run warns of it. */
const VAPI_ERRORS: readonly ErrorOf<Vapi>[] = [
  ['a wrong key', { apiKey: 'another' }, 'platform_refused', 'Invalid Key', 'check the apiKey'],
  ['a key without permission', answers(403, 'Forbidden'), 'platform_refused', 'Forbidden', 'check the apiKey'],
  ['an unknown assistant', { assistantId: 'another' }, 'platform_refused', 'does not exist', 'check the assistantId'],
  ['no credit', answers(402, 'Purchase more credits.'), 'platform_refused', 'more credits', 'check the credit'],
  ['an empty wallet', answers(400, 'Wallet balance is -0.2.'), 'platform_refused', 'balance', 'check the credit'],
  ['too many calls', answers(400, 'Over Concurrency Limit.'), 'rate_limited', 'Over Concurrency', BUSY],
  ['too many requests', answers(429, 'Too many requests'), 'rate_limited', 'Too many', BUSY],
  ['an error of its own', answers(503, 'Try later'), 'http_status', 'Try later', 'HTTP 503'],
];
const ended = (reason: string): Vapi => ({ script: { onStart: [{ send: [...audio(500), messages.ended(reason)] }] } });
/** Those of calls, which a chat is none of. */
const VAPI_CALL_ERRORS: readonly ErrorOf<Vapi>[] = [
  ['a call that is created blocked', { maxCalls: 0 }, 'platform_busy', 'concurrencyBlocked', BUSY],
  ['an address that has expired', { validMs: 0 }, 'not_ready', 'HTTP 404', 'nothing delays WebSockets'],
  [
    'a close in the middle',
    { script: { onStart: [{ send: audio(500) }, { afterMs: 700, close: { code: 1011, reason: 'Worker died' } }] } },
    ...(['connection_lost', 'Worker died', '1011'] as const),
  ],
  ['an error in the middle', ended('pipeline-error-openai-llm-failed'), 'agent_error', 'openai-llm-failed', 'the log'],
  ['the maximum duration', ended('exceeded-max-duration'), 'platform_refused', 'exceeded', 'raise maxDurationSeconds'],
];

describe('errors of platforms over sockets', () => {
  const calls = new VoiceCalls();
  const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
  let double: ElevenLabsServer | VapiServer;
  beforeAll(() => calls.prepare(), 180_000);
  afterEach(() => double.stop());
  afterAll(async () => {
    await mediaThreads.close();
    await calls.close();
  });

  const called = { apiKey: KEY, assistantId: 'booking' };
  const voiceCall = (protocol: 'elevenlabs' | 'vapi') =>
    calls.callOver(double.url, EVALUATION, 'slt', undefined, { protocol, ...called });
  const textCall = (protocol: string) =>
    executeCall({
      definition: normalise({ ...EVALUATION, script: [{ say: 'Hello?' }] }),
      scenario: { scenarioText: EVALUATION.scenarioText },
      personality: { name: 'Caller' },
      transport: transportTo(
        { ...{ protocol, url: double.url, headers: {}, firstSpeaker: 'caller', options: {} }, apiKey: KEY },
        { client, assistantId: 'booking', phoneNumber: '', workspaceId: 'w-1', callId: 'c-1' },
      ),
    });

  async function expectError(call: Promise<CallResult>, [, , code, said, cure]: ErrorOf<object>): Promise<void> {
    const { outcome, failure } = await call;
    expect({ outcome, code: failure?.code, fault: failure?.fault }).toEqual({
      ...{ outcome: 'error', code, fault: 'infrastructure' },
    });
    for (const words of [said, cure]) expect(failure!.message).toContain(words);
    expect(failure!.message).not.toContain(KEY);
    await until('the call is closed', () => double.openCalls === 0);
  }

  describe.each(['elevenlabs', 'elevenlabs-text'] as const)('%s', (protocol) => {
    it.each(ERRORS)('says at %s what the platform said, and a cure', async (...error) => {
      double = await ElevenLabsServer.start({ apiKey: KEY, ...error[1] });
      await expectError(protocol === 'elevenlabs' ? voiceCall(protocol) : textCall(protocol), error);
    });
  });

  describe.each([
    ['vapi', [...VAPI_ERRORS, ...VAPI_CALL_ERRORS]],
    ['vapi-chat', VAPI_ERRORS],
  ] as const)('%s', (protocol, errors) => {
    it.each(errors)('says at %s what the platform said, and a cure', async (...error) => {
      double = await VapiServer.start({ apiKey: KEY, ...error[1] });
      await expectError(protocol === 'vapi' ? voiceCall(protocol) : textCall(protocol), error);
    });
  });
});
