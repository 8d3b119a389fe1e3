import { normalise } from '../../libs/evaluation-definition/index.js';
import { OutboundClient } from '../../libs/outbound-http/index.js';
import { VoiceCalls } from '../../libs/reference-agent/testing/voice.js';
import { executeCall, mediaThread, transportTo } from '../../libs/simulation/index.js';
import { ElevenLabsServer, server } from '../../libs/simulation/testing/elevenlabs.js';
import { until } from '../support/until.js';

const KEY = 'sk_of_the_test_1234567890';
const EVALUATION = {
  ...{ key: 'errors', personalityId: 'any', name: 'Errors', scenarioText: 'You listen.' },
  script: [{ waitSeconds: 3 }, { end: 'Done' }],
};

type Double = NonNullable<Parameters<typeof ElevenLabsServer.start>[0]>;

const closing = (code: number, reason: string): Double => ({
  script: { onStart: [{ send: [server.metadata()], close: { code, reason } }] },
});
const says = (error: ReturnType<typeof server.error>): Double => ({
  script: { onStart: [{ send: [server.metadata(), error], close: { code: 1000 } }] },
});
const refused = (status: number, code: string, message: string): Double => ({
  refusal: { status, body: JSON.stringify({ detail: { status: code, message } }) },
});

/** What goes wrong, the code of the error, what the platform said and the cure. */
const ERRORS: readonly (readonly [string, Double, string, string, string])[] = [
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

describe('errors of ElevenLabs over sockets', () => {
  const calls = new VoiceCalls();
  const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
  let double: ElevenLabsServer;
  beforeAll(() => calls.prepare(), 180_000);
  afterEach(() => double.stop());
  afterAll(async () => {
    await mediaThread.close();
    await calls.close();
  });

  const call = {
    elevenlabs: () => calls.callOver(double.url, EVALUATION, 'slt', undefined, { protocol: 'elevenlabs', apiKey: KEY }),
    'elevenlabs-text': () =>
      executeCall({
        definition: normalise({ ...EVALUATION, script: [{ say: 'Hello?' }] }),
        scenario: { scenarioText: EVALUATION.scenarioText },
        personality: { name: 'Caller' },
        transport: transportTo(
          {
            ...{ protocol: 'elevenlabs-text', url: double.url, headers: {}, firstSpeaker: 'caller', options: {} },
            apiKey: KEY,
          },
          { client, assistantId: 'booking', phoneNumber: '', callId: 'c-1' },
        ),
      }),
  };

  describe.each(['elevenlabs', 'elevenlabs-text'] as const)('%s', (protocol) => {
    it.each(ERRORS)('says at %s what the platform said, and a cure', async (_what, options, code, said, cure) => {
      double = await ElevenLabsServer.start({ apiKey: KEY, ...options });
      const { outcome, failure } = await call[protocol]();
      expect({ outcome, code: failure?.code, fault: failure?.fault }).toEqual({
        ...{ outcome: 'error', code, fault: 'infrastructure' },
      });
      expect(failure!.message).toContain(said);
      expect(failure!.message).toContain(cure);
      expect(failure!.message).not.toContain(KEY);
      await until('the call is closed', () => double.openCalls === 0);
    });
  });
});
