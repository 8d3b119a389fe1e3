import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PROTOCOLS } from '../../libs/simulation/index.js';
import { SipGateway } from '../simulators/sip/gateway.js';
import { prepareEvaluations } from '../support/run-app.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { vat } from '../support/vat.js';
import { startVoiceAgent, type VoiceAgentOptions, type VoiceAgentServer } from '../support/voice-agent.js';

const QUESTION = 'Until when are you open?';
const GOODBYE = 'Thank you, goodbye.';
const EVALUATION = {
  name: 'Asks for the opening hours',
  scenarioText: 'You want to know until when the restaurant is open.',
  script: [{ say: QUESTION }, { say: GOODBYE }, { waitSeconds: 5 }, { end: 'The agent does not hang up' }],
  checks: [
    { name: 'Answers in time', type: 'max_latency_ms', ms: 10_000 },
    { name: 'Keeps to the protocol', type: 'clean_protocol' },
    { name: 'Hangs up', type: 'ends_by', by: 'agent' },
  ],
};

/** On a busy machine a call may be repeated, because its audio was late. */
const MET = /^Gate met: 1 call(?: \(1 retried\))?, 1 passed/m;

interface Wire {
  readonly protocol: string;
  readonly as?: VoiceAgentOptions['as'];
  /** The agent's address in the connection. */
  readonly address: (url: string) => string;
  /** Puts the agent behind SIP. */
  readonly isBehindGateway?: boolean;
}

const WIRES: readonly Wire[] = [
  { protocol: 'twilio-media-streams', address: (url) => `${url}/voice` },
  {
    protocol: 'openai-realtime',
    as: 'realtime',
    address: (url) => `${url.replace('http', 'ws')}/v1/realtime?model={assistantId}`,
  },
  { protocol: 'elevenlabs', as: 'elevenlabs', address: (url) => url },
  { protocol: 'vapi', as: 'vapi', address: (url) => url },
  { protocol: 'pipecat', as: 'pipecat', address: (url) => `${url.replace('http', 'ws')}/ws-client` },
  { protocol: 'sip', isBehindGateway: true, address: (url) => url },
  { protocol: 'retell', as: 'retell', address: (url) => url },
];

describe('a voice call', () => {
  const agents: Pick<VoiceAgentServer, 'close'>[] = [];
  let app: TestApp;
  let folder: string;
  /** All calls take place at the same time, because they last as long as real ones. */
  let runs: ReadonlyMap<string, ReturnType<typeof runOver>>;
  beforeAll(async () => {
    app = await createTestApp({ env: { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8' } });
    folder = await mkdtemp(path.join(tmpdir(), 'voice-calls-'));
    runs = new Map(WIRES.map((wire) => [wire.protocol, runOver(wire)]));
    // The test of a call reports its failure.
    for (const run of runs.values()) run.catch(() => undefined);
  });
  afterAll(async () => {
    await Promise.allSettled(runs?.values() ?? []);
    await app?.close();
    await Promise.all(agents.map((agent) => agent.close()));
    await rm(folder, { recursive: true });
  });

  /** Runs the only evaluation of a new agent. @returns what `vat` said and wrote */
  async function runOver({ protocol, as, address, isBehindGateway }: Wire) {
    const agent = await startVoiceAgent({ lines: [QUESTION, GOODBYE], ...(as && { as }) });
    agents.push(agent);
    const gateway = isBehindGateway ? await SipGateway.start(agent.url) : undefined;
    if (gateway) agents.push({ close: async () => gateway.close() });
    const { client, agentId, apiKey } = await prepareEvaluations(app, [EVALUATION], { assistantId: 'booking' });
    const options = agent.sipServer === undefined ? {} : { sipServer: agent.sipServer };
    const connection = { protocol, url: address(gateway?.urlOf('booking:healthy') ?? agent.url), options };
    expect(await client.put(`/agents/${agentId}/connection`, connection)).toMatchObject({ status: 200 });
    const page = path.join(folder, `${protocol}.html`);
    const env = { VAT_URL: app.url, VAT_API_KEY: apiKey };
    const result = await vat(['run', '--agent', agentId, '--report', page], env);
    return { ...result, report: await readFile(page, 'utf8') };
  }

  it('is tested over every protocol of voice agents', () => {
    const ofVoice = PROTOCOLS.names.filter((name) => PROTOCOLS.of(name).medium === 'voice');
    expect(WIRES.map(({ protocol }) => protocol).sort()).toEqual([...ofVoice].sort());
  });

  it.each(WIRES)(
    'over $protocol passes, and `vat run` writes its report page',
    async ({ protocol }) => {
      const { code, stdout, report } = await runs.get(protocol)!;
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(MET) });
      expect(report).toContain(QUESTION);
      expect(report).toContain('class="wave"');
    },
    120_000,
  );
});
