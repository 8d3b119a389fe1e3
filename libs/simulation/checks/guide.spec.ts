import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  CHECK_DEFINITIONS,
  type CheckInput,
  inputViolations,
  leavesOf,
  normalise,
} from '../../evaluation-definition/index.js';
import { call } from '../testing/calls.js';
import {
  GUIDE_FAULTS,
  GUIDE_SCRIPT,
  guideAgent,
  guideChecks,
  judgedGuide,
  voiceGuide,
} from '../../../test/simulators/agent/testing/guide-agent.js';

const guide = readFileSync(path.resolve(__dirname, '../../../docs/guides/checks.md'), 'utf8');
const checks = guideChecks(guide);
const voice = voiceGuide(guide);
const judged = judgedGuide(guide);
const evaluation = {
  key: 'guide',
  name: 'Guide',
  scenarioText: 'You want a table.',
  personalityId: 'c7e15a3b-2f68-4d90-a1b4-8e9d0c6f7251',
};

describe('the examples of the guide to checks', () => {
  it('are valid, and show every type of check', () => {
    expect(inputViolations('file', { ...evaluation, script: GUIDE_SCRIPT, checks })).toEqual([]);
    expect(inputViolations('file', { ...evaluation, ...voice })).toEqual([]);
    expect(inputViolations('file', { ...evaluation, checks: judged })).toEqual([]);
    const all = normalise({ checks: [...checks, ...voice.checks, ...judged] }).checks;
    const types = new Set([...all, ...all.flatMap(leavesOf)].map(({ type }) => type));
    expect(Object.keys(CHECK_DEFINITIONS).filter((type) => !types.has(type as CheckInput['type']))).toEqual([]);
  });

  it('each have a planted text fault', () => {
    expect(Object.keys(GUIDE_FAULTS)).toEqual(checks.map(({ name }) => name));
  });

  it('pass with the healthy text agent', async () => {
    const result = await call({ script: GUIDE_SCRIPT, checks }, { transport: guideAgent() });
    expect(result.checks.filter(({ met }) => !met)).toEqual([]);
    expect(result).toMatchObject({ outcome: 'passed', score: 100 });
  });

  it.each(checks.map(({ name }) => name))('find a planted fault that no other check finds: %s', async (name) => {
    const result = await call({ script: GUIDE_SCRIPT, checks }, { transport: guideAgent(name) });
    expect(result.checks.filter(({ met }) => met !== true).map((check) => check.name)).toEqual([name]);
    expect(result.outcome).toBe('failed');
    expect(result.reason).toContain(name);
  });
});
