import { EvaluationFiles, messages } from '../support/evaluation-files.js';
import { HttpClient } from '../support/http.js';
import { measureStalls } from '../support/stalls.js';

/** How long the event loop of the service and of this test may stall, in milliseconds; about 200 on a quiet machine. */
const MAX_STALL_MS = 800;

/** 50 answers per step, with two patterns each. */
const script = (pattern: (index: number) => string, steps: number) =>
  Array.from({ length: steps }, (_, step) => ({
    answers: Array.from({ length: 50 }, (_, answer) => {
      const index = step * 50 + answer;
      return { when: { says: { pattern: pattern(index) }, notSays: { pattern: pattern(-index) } }, say: 'Yes.' };
    }),
  }));

const FOLDED_RANGES = { script: script((index) => `(?i)[\\x{100}-\\x{ffff}]1b${index}`, 27) };
const SEARCHES = {
  script: Array.from({ length: 200 }, (_, step) => ({ say: `${step} ${'É ñ '.repeat(450)}` })),
  checks: Array.from({ length: 100 }, (_, index) => ({
    type: 'says_before',
    first: { speaker: 'caller', text: `before ${index}` },
    then: { speaker: 'caller', text: `after ${index}` },
  })),
};

describe('hostile patterns do not delay other workspaces', () => {
  let files: EvaluationFiles;
  let agentId: string;
  let other: HttpClient;

  beforeAll(async () => {
    files = await EvaluationFiles.open();
    agentId = await files.createAgent();
    other = new HttpClient(files.app.url, (await files.app.createWorkspace()).apiKey);
  });
  afterAll(() => files.app.close());

  async function attack(method: string, path: string, body: object): Promise<string[]> {
    const { result, longestMs, statuses } = await measureStalls(() => files.client.send(method, path, body), other);
    expect(statuses).toEqual([200]);
    expect(longestMs).toBeLessThan(MAX_STALL_MS);
    expect([200, 201, 400]).toContain(result.status);
    return messages(result.body);
  }

  const evaluation = (fields: object = {}) => {
    const { key: _key, ...rest } = files.item('a', fields);
    return rest;
  };

  it('of thousands of folded ranges in a new evaluation', async () => {
    const issues = await attack('POST', `/agents/${agentId}/evaluations`, evaluation(FOLDED_RANGES));
    expect(issues[0]).toMatch(
      /^script\[0\]\.answers\[\d+\]\.when\.(says|notSays)\.pattern exceeds the size limit for all patterns of an evaluation: use fewer/,
    );
  });

  it('of thousands of folded ranges in a change', async () => {
    const created = await files.client.post(`/agents/${agentId}/evaluations`, evaluation());
    expect(created.status).toBe(201);
    const issues = await attack('PATCH', `/evaluations/${created.body.data.id}`, FOLDED_RANGES);
    expect(issues[0]).toMatch(/exceeds the size limit for all patterns of an evaluation/);
  });

  it('searched in the lines of a long script', async () => {
    const issues = await attack('POST', `/agents/${agentId}/evaluations`, evaluation(SEARCHES));
    expect(issues).toContain('checks[0].first is never said by the script, so the check could never hold');
  });
});
