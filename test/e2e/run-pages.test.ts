import { createRunApp, prepareEvaluations, type RunApp, shortEvaluation } from '../support/run-app.js';

/** More calls and evaluations than a single statement reads. */
const [EVALUATIONS, REPEAT] = [30, 20];

describe('a run of many calls', () => {
  let app: RunApp;

  beforeAll(async () => {
    app = await createRunApp();
  });
  afterAll(() => app.close());

  async function cancelledRun() {
    const evaluations = Array.from({ length: EVALUATIONS }, (_, n) =>
      shortEvaluation({
        name: `Evaluation ${n}`,
        tags: [n % 3 === 0 ? 'third' : 'other'],
        script: [{ waitSeconds: 60 }],
      }),
    );
    const { client, apiKey, agentId } = await prepareEvaluations(app, evaluations);
    const { id } = (await client.post(`/agents/${agentId}/runs`, { repeat: REPEAT, concurrency: 1 })).body.data;
    expect((await client.post(`/runs/${id}/cancel`)).status).toBe(200);
    const read = async (path: string) =>
      (await fetch(`${app.url}/runs/${id}/${path}`, { headers: { authorization: `Bearer ${apiKey}` } })).text();
    return { client, id, read };
  }

  it('is complete in its events and its JUnit file, in plan order', async () => {
    const { client, id, read } = await cancelledRun();
    const blocks = (await read('events')).split('\n\n').filter((block) => block.startsWith('event: '));
    const calls = blocks.filter((block) => block.startsWith('event: call'));
    const ids = new Set(calls.map((block) => JSON.parse(/^data: (.*)$/m.exec(block)![1]!).id));
    expect(ids.size).toBe(EVALUATIONS * REPEAT);
    // Only a page-wise reader that continues past the first pages is complete.
    expect(blocks.map((block) => /^id: \d+$/m.test(block)).indexOf(true)).toBe(blocks.length - 1);
    expect(blocks.at(-1)).toMatch(/^event: run/);

    const names = [...(await read('junit')).matchAll(/<testcase classname="(\w+)" name="([^"]+)"/g)];
    const suite = (name: string) => names.filter(([, suiteName]) => suiteName === name).map(([, , test]) => test);
    const plan: string[] = [];
    for (let page = 1; plan.length < EVALUATIONS * REPEAT; page++) {
      const { data } = (await client.get(`/runs/${id}/calls?limit=100&page=${page}`)).body;
      plan.push(...data.map((call: any) => `${call.evaluationName} #${call.repetition}`));
    }
    const isThird = (name: string) => Number(/\d+/.exec(name)![0]) % 3 === 0;
    expect(suite('third')).toEqual(plan.filter(isThird));
    expect(suite('other')).toEqual(plan.filter((name) => !isThird(name)));
  });
});
