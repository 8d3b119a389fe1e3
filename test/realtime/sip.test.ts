import type { EvaluationInput } from '../../libs/evaluation-definition/index.js';
import { mediaThreads, requestThreads } from '../../libs/simulation/index.js';
import { type ReferenceAgentServer, startReferenceAgent } from '../simulators/agent/index.js';
import { TODAY, VoiceCalls } from '../simulators/agent/testing/voice.js';
import { SipGateway } from '../simulators/sip/gateway.js';
import type { RtpLineOptions } from '../simulators/sip/rtp-line.js';
import { BARGE_IN } from '../support/platform-calls.js';

/** Words are known from a transcription server only. */
const WITHOUT_WORDS: EvaluationInput = { ...BARGE_IN, checks: [{ type: 'yields_within_ms', ms: 1_500 }] };

describe('The reference agent behind SIP', () => {
  const calls = new VoiceCalls();
  let server: ReferenceAgentServer;
  let gateway: SipGateway;
  beforeAll(async () => {
    await calls.prepare();
    server = await startReferenceAgent({ port: 0, telephone: { prepare: () => calls.prepare(), now: () => TODAY } });
  }, 180_000);
  afterEach(() => gateway.close());
  afterAll(async () => {
    await server.close();
    await mediaThreads.close();
    await requestThreads.close();
    await calls.close();
  });

  it.each<[string, RtpLineOptions, string, string]>([
    ['passes over a steady line', {}, 'healthy', 'passed'],
    ['passes over a line that jitters and loses packets', { jitterMs: 80, loss: 0.02 }, 'healthy', 'passed'],
    ['passes if its timestamps stand still in silence', { sender: 'standing' }, 'healthy', 'passed'],
    ['passes if its sound is sent 240 ms ahead', { sender: 'ahead' }, 'healthy', 'passed'],
    ['fails if it ignores that the caller interrupts', {}, 'ignores-barge-in', 'failed'],
  ])(
    '%s',
    async (_, options, fault, expected) => {
      gateway = await SipGateway.start(server.url, options);
      const { outcome, reason } = await calls.callOver(
        gateway.urlOf(`booking:${fault}`),
        WITHOUT_WORDS,
        'slt',
        { audio: () => undefined, wire: () => undefined },
        { protocol: 'sip' },
      );
      expect({ outcome, reason }).toEqual({ outcome: expected, reason });
    },
    90_000,
  );
});
