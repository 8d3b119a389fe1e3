import { OutboundClient } from '../../../libs/outbound-http/index.js';
import { PROTOCOLS, RealClock, type Transport, VirtualClock } from '../../../libs/simulation/index.js';
import { sentinels } from '../../../libs/statistics/testing/sample.js';
import { type ReferenceAgentServer, startReferenceAgent } from '../agent/index.js';
import { accuracyOf, AGENTS, executeTrial, tally, type Trial, type Tried, trials } from '../agent/testing/accuracy.js';
import { isSentinel } from '../agent/testing/sentinels.js';

/** Friday, 4 December 2026. */
const NOW = Date.UTC(2026, 11, 4, 10);
const KEY = 'key_of_the_test_1234567890';
const AT_ONCE = 10;
const CALLED = sentinels(AGENTS, isSentinel);

/** The delay of a slow answer is one of the socket, which takes no virtual time. */
const clockFor = ({ fault }: Trial) => (fault === 'slow-answer' ? new RealClock() : new VirtualClock());

describe('the evaluations of the text agent over Retell', () => {
  let agent: ReferenceAgentServer;
  let tried: Tried[];

  /** Of the module itself: in a thread of its own it would take real time. */
  const transport = (fault: string): Transport => {
    const module = PROTOCOLS.of('retell-text');
    if (module.medium !== 'text') throw new Error('not a protocol of text');
    return module.transport(
      {
        ...{ protocol: 'retell-text', url: agent.url, headers: {}, firstSpeaker: 'agent', options: {} },
        apiKey: KEY,
      },
      {
        client: new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] }),
        ...{ assistantId: `booking:${fault}`, phoneNumber: '', workspaceId: 'w-1', callId: 'c-1' },
      },
    );
  };

  beforeAll(async () => {
    agent = await startReferenceAgent({ port: 0, now: () => NOW, retell: { apiKey: KEY } });
    const queue = trials(1).filter(({ fault }) => CALLED.includes(fault));
    tried = [];
    const work = async () => {
      for (let trial = queue.shift(); trial; trial = queue.shift()) {
        tried.push(await executeTrial(trial, transport(trial.fault ?? 'healthy'), clockFor(trial)));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }, 300_000);
  afterAll(() => agent.close());

  it.each(CALLED.map((fault) => [fault ?? 'healthy', fault] as const))(
    'detect %s in exactly the expected evaluations, for the expected reason',
    (_name, fault) => {
      const own = tried.filter((one) => one.fault === fault);
      const wrong = own.filter(
        ({ expected, result, isRightReason }) =>
          result.outcome !== expected.outcome || isRightReason !== (expected.outcome === 'failed'),
      );
      expect(wrong.map(({ key, result }) => `${key}: ${result.outcome}, ${result.reason}`)).toEqual([]);
      expect(own).toHaveLength(10);
    },
  );

  it('do not depend on a valid percent-encoding of the name', async () => {
    const statusOf = async (name: string) => {
      const body = JSON.stringify({ messages: [{ role: 'user', content: 'When are you open?' }] });
      const headers = { authorization: `Bearer ${KEY}` };
      return (await fetch(`${agent.url}/agent-playground-completion/${name}`, { method: 'POST', headers, body }))
        .status;
    };
    expect(await Promise.all(['booking', '%E0%A4%A', 'booking%3Ano-such-fault'].map(statusOf))).toEqual([
      200, 200, 422,
    ]);
  });

  it('have precision and recall of 1', () => {
    expect(accuracyOf(tally(tried))).toEqual({ precision: 1, recall: 1, reasonPrecision: 1, reasonRecall: 1 });
  });
});
