import { stubModel } from '../simulators/model/llm-stub.js';
import { TestServers } from '../simulators/servers.js';
import {
  EXPECTATION_FAULTS,
  type GuideExpectations,
  guideExpectations,
  startTurnsAgent,
  turnsWith,
} from '../simulators/agent/testing/expectations-agent.js';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { FORMATS, EvaluationFiles, MEDIA_TYPES } from '../support/evaluation-files.js';
import { callEnv, executeRun, prepareEvaluations } from '../support/run-app.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const {
  personality: _,
  personalityId: __,
  ...EVALUATION
} = guideExpectations(
  readFileSync(path.resolve(__dirname, '../../docs/guides/expectations.md'), 'utf8'),
)[0] as GuideExpectations & {
  personality: string;
};
const FAULT = 'Books what was agreed';

describe('expectations of lines in runs', () => {
  const servers = new TestServers();
  let app: TestApp;

  beforeAll(async () => {
    const { url } = await stubModel(servers, ({ lines }) => {
      const quote = lines.find((line) => line.who === 'agent' && 'part' in line)?.text ?? '';
      return { met: quote.includes('eight'), quote, reasoning: 'So it is' };
    });
    const agent = callEnv(await startTurnsAgent(servers, turnsWith(FAULT)));
    app = await createTestApp({ env: { ...agent, LLM_BASE_URL: url, LLM_MODEL: 'stub' } });
  });
  afterAll(async () => {
    await app.close();
    await servers.close();
  });

  it('are checks of the plan and the call, stand under their line in the report, and are named in JUnit', async () => {
    const { client, agentId, evaluationIds } = await prepareEvaluations(app, [EVALUATION]);
    const stored = await client.get(`/evaluations/${evaluationIds[0]}`);
    expect(stored.body.data.script[0].expect).toMatchObject(EVALUATION.script![0]!['expect' as never]);
    expect(stored.body.data.checks).toEqual([]);
    const run = await executeRun(client, agentId);
    expect(run.counts).toMatchObject({ failed: 1 });
    const [listed] = (await client.get(`/runs/${run.id}/calls`)).body.data;
    const { data } = (await client.get(`/calls/${listed.id}`)).body;
    const found = data.checks.filter(({ met }: { met: boolean | null }) => met === false);
    const name = `After "Yes, please.": ${FAULT}`;
    expect(found).toEqual([expect.objectContaining({ name, step: 2, answer: 1, index: 5 })]);
    expect(data.checks).toHaveLength(Object.keys(EXPECTATION_FAULTS).length);
    expect(data.evaluation.definition.checks[5]).toMatchObject({ name, step: 2, answer: 1 });
    const { body: page } = await client.get(`/runs/${run.id}/report`);
    const [, under = ''] = />Yes, please\.<([^]*?)<\/li>/.exec(page) ?? [];
    expect(under).toContain('<p class="expected not-met">');
    expect(under).toContain('The agent never called book_table');
    const { body: junit } = await client.get(`/runs/${run.id}/junit`);
    expect(junit).toContain(`Not met: After "Yes, please.": ${FAULT}`);
  });

  it.each(FORMATS)('keep their place in a file: %s', async (format) => {
    const files = await EvaluationFiles.open();
    try {
      const id = await files.createAgent();
      const suite = {
        personalities: [{ name: 'Hurried guest', prompt: 'x' }],
        evaluations: [{ ...EVALUATION, personality: 'Hurried guest' }],
      };
      expect((await files.send(id, suite)).status).toBe(200);
      const text = await files.exported(id, format);
      const other = await files.createAgent();
      expect((await files.send(other, text, MEDIA_TYPES[format])).status).toBe(200);
      expect(await files.exported(other, format)).toBe(text);
      expect(text).toContain(FAULT);
    } finally {
      await files.app.close();
    }
  });

  it('are explained in the plan of a file, and refused with the line and the cure', async () => {
    const { client, agentId } = await prepareEvaluations(app, []);
    const file = (check: string) => `evaluations:
  - key: a
    name: A
    scenarioText: You want a table.
    personality: P
    script:
      - say: A table, please.
        expect:
          - { ${check} }
personalities:
  - { name: P, prompt: x }
`;
    const headers = { 'Content-Type': 'application/yaml' };
    const send = (check: string, query = '') =>
      client.send('POST', `/agents/${agentId}/evaluations/import${query}`, file(check), headers);
    const refused = await send('type: max_turns, turns: 3');
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      400,
      expect.stringMatching(/max_turns is about the whole call: write it in checks.*line 9/),
    ]);
    const planned = await send('type: calls_tool, tool: find', '?dryRun=true');
    expect(planned.body.data.plan.evaluations[0].explanation).toContain(
      'Check: After "A table, please.": agent calls find.',
    );
  });
});
