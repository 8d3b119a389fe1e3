import { ScriptedAgent, type Stream } from '../simulators/twilio/twilio-agent.js';
import { executeRun, prepareEvaluations } from '../support/run-app.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

/** 800 ms of a tone at 500 Hz. */
const TONE = Buffer.alloc(6_400, Buffer.from([...Array<number>(8).fill(0x10), ...Array<number>(8).fill(0x90)]));
/** Frames of silence after which the agent answers, and how long it waits until it does something more. */
const QUIET = 25;
const LATER_MS = 2_800;

const EVALUATION = {
  name: 'Passes the caller on',
  scenarioText: 'You want to speak to a human.',
  script: [{ say: 'I want to speak to a human, please.' }, { waitSeconds: 5 }, { end: 'Done' }],
  checks: [
    { name: 'Passes it on', type: 'transfers', to: '+15550142', required: false },
    { name: 'Answers once', type: 'answers', times: { max: 1 }, required: false },
  ],
};

interface Behaviour {
  readonly answers: number;
  /** TwiML after the stream, which the agent closes if there is any. */
  readonly after?: string;
}

describe('transfers and answers over Twilio', () => {
  const agents: ScriptedAgent[] = [];
  let app: TestApp;
  beforeAll(async () => {
    app = await createTestApp({ env: { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8' } });
  });
  afterAll(async () => {
    for (const agent of agents) await agent.stop();
    await app.close();
  });

  /** What each check found in a call of an agent that answers half a second after the caller. */
  async function found({ answers, after }: Behaviour, options: object = {}): Promise<unknown[]> {
    const quiet = new Map<Stream, number>();
    const agent = await ScriptedAgent.start({
      webhook: () => `<Response><Connect><Stream url="/media"/></Connect>${after ?? ''}</Response>`,
      onMessage: (stream, { event, media }) => {
        if (event !== 'media') return;
        const isLoud = Buffer.from(media.payload as string, 'base64').some((byte) => (byte & 0x7f) < 0x50);
        const frames = quiet.get(stream);
        if (isLoud || frames !== undefined) quiet.set(stream, isLoud ? 0 : frames! + 1);
        if (isLoud || frames !== QUIET) return;
        quiet.delete(stream);
        for (let answer = 0; answer < answers; answer++) setTimeout(() => stream.play(TONE), answer * LATER_MS);
        if (after !== undefined) setTimeout(() => stream.socket.close(1000), LATER_MS);
      },
    });
    agents.push(agent);
    const { client, agentId } = await prepareEvaluations(app, [EVALUATION]);
    const url = `http://${agent.host}/voice`;
    const connection = await client.put(`/agents/${agentId}/connection`, {
      ...{ protocol: 'twilio-media-streams', url, options },
    });
    expect(connection).toMatchObject({ status: 200 });
    const { id } = await executeRun(client, agentId, { minimumScore: 0 });
    const [{ id: callId }] = (await client.get(`/runs/${id}/calls`)).body.data;
    const { checks } = (await client.get(`/calls/${callId}`)).body.data;
    return checks.map(({ met }: any) => met);
  }

  it('are decided by the TwiML and the sounds of the agent, and by what its backend reports', async () => {
    const dial = '<Dial>+1 (555) 01-42</Dial>';
    const [dialled, elsewhere, silent, reported, twice] = await Promise.all([
      found({ answers: 1, after: dial }),
      found({ answers: 1, after: dial.replace('42', '43') }),
      // The backend may have asked Twilio's API for the transfer.
      found({ answers: 1 }),
      found({ answers: 1 }, { toolCalls: 'reported' }),
      found({ answers: 2 }),
    ]);
    expect(dialled).toEqual([true, true]);
    expect(elsewhere).toEqual([false, true]);
    expect(silent).toEqual([null, true]);
    expect(reported).toEqual([false, true]);
    // Undecided if the tester stalled in the silence between the answers.
    expect([false, null]).toContain(twice[1]);
  }, 90_000);
});
