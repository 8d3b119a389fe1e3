import { readFileSync } from 'node:fs';
import path from 'node:path';
import { authored, type FileEvaluationInput, inputViolations } from '../../../../libs/evaluation-definition/index.js';
import type { FaultName } from '../../../../test/simulators/agent/index.js';
import { referenceTransport } from '../../../../test/simulators/agent/testing/transport.js';
import { executeCall, VirtualClock } from '../../../../libs/simulation/index.js';
import { CORE_SCHEMA, load } from 'js-yaml';
import { readFile } from './file.js';

const guide = (name: string): string => readFileSync(path.resolve(__dirname, '../../../../docs/guides', name), 'utf8');

const GUIDES = ['evaluations.md', 'expectations.md', 'suites.md', 'production-calls.md'].map(guide).join('');

/** The examples of the guides: complete files, or parts of one evaluation. */
const blocks = [...GUIDES.matchAll(/^```(yaml|csv)\n([^]*?)^```/gm)].map(([, language = '', text = '']) => ({
  language,
  text,
  title: text.slice(0, 60),
}));
const isFile = ({ language, text }: (typeof blocks)[number]) => language === 'csv' || /^(- |evaluations:)/m.test(text);
const needed = {
  name: 'Example',
  scenarioText: 'Example',
  personalityId: 'c7e15a3b-2f68-4d90-a1b4-8e9d0c6f7251',
};

describe('the guides to evaluations, suites and production calls', () => {
  it.each(blocks.filter(isFile))('has a complete file that can be imported: $title', ({ language, text }) => {
    const file = { mediaType: language === 'csv' ? 'text/csv' : 'application/yaml', text };
    const { evaluations: items, personalities } = readFile(file);
    expect(items.length).toBeGreaterThan(0);
    for (const { value, violations } of items) expect([...violations, ...inputViolations('file', value)]).toEqual([]);
    for (const { value } of personalities) expect(inputViolations('personality', value)).toEqual([]);
  });

  it.each(blocks.filter((block) => !isFile(block)))('has a valid part of an evaluation: $title', ({ text }) => {
    const part = load(text, { schema: CORE_SCHEMA }) as object;
    expect(Object.keys(part)).toHaveLength(1);
    expect(inputViolations('new', { ...needed, ...part })).toEqual([]);
  });

  it('has a first example that passes with the reference agent and fails with a planted fault', async () => {
    const [whole] = blocks.filter(isFile);
    const [item] = readFile({ mediaType: 'application/yaml', text: whole?.text ?? '' }).evaluations;
    const evaluation = authored({ ...(item?.value as FileEvaluationInput), personalityId: '' }, '');
    const call = (fault?: FaultName) =>
      executeCall({
        // Criteria need a language model.
        definition: { ...evaluation, criteria: [] },
        scenario: evaluation,
        personality: { name: 'Caller' },
        transport: referenceTransport({ ...(fault && { fault }) }),
        clock: new VirtualClock(),
      });
    expect(await call()).toMatchObject({ outcome: 'passed' });
    expect(await call('wrong-tool-argument')).toMatchObject({ outcome: 'failed' });
  });

  it('has complete files and parts as examples', () => {
    expect(blocks.filter(isFile).length).toBeGreaterThanOrEqual(3);
    expect(blocks.filter((block) => !isFile(block)).length).toBeGreaterThanOrEqual(6);
  });
});
