import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { type CallReader, type ReportedRun, renderJunit } from '../../libs/run-report/index.js';
import { buildRun } from '../../libs/run-report/testing/build.js';
import { HOSTILE, hostileCall, hostileRun } from '../../libs/run-report/testing/hostile.js';
import { sampleRun } from '../../libs/run-report/testing/sample-run.js';
import { suiteTimes } from '../support/suite-times.js';
import { describeWith } from '../support/programs.js';

const SCHEMA = path.resolve(__dirname, '../support/jenkins-junit.rng');

async function junit({ run, read }: { run: ReportedRun; read: CallReader }): Promise<string> {
  let document = '';
  for await (const part of renderJunit(run, read)) document += part;
  return document;
}

/** What xmllint reports of a document; empty if Jenkins' xUnit plugin accepts it. */
function violations(document: string): string {
  const { status, stderr } = spawnSync('xmllint', ['--noout', '--relaxng', SCHEMA, '-'], {
    input: document,
    encoding: 'utf8',
  });
  return status === 0 ? '' : stderr;
}

const errorCall = { ...hostileCall('no'), outcome: 'error' as const };
const invalidCall = { ...hostileCall('no'), outcome: 'invalid' as const };

// kyrus/python-junit-xml#32, weiwei/junitparser#100, mocha-junit-reporter#151, xunit/xunit#3393, larrymyers/jasmine-reporters#190,
// unittest-xml-reporting#201: the plugin refuses a whole file for one attribute that its schema does not name.
describeWith('xmllint', "JUnit reports and the schema of Jenkins' xUnit plugin", () => {
  it.each([
    ['a run with every outcome', () => sampleRun()],
    ['calls without a verdict', () => buildRun([{ name: 'One', tags: ['a'], calls: [errorCall, invalidCall] }])],
    [
      'calls that have not ended',
      () => buildRun([{ name: 'One', calls: ['cancelled', 'pending'] }], { endedAt: null }),
    ],
    ['a run that has not started', () => buildRun([{ name: 'One', calls: ['pending'] }], { startedAt: null })],
    ['a cancelled run', () => buildRun([{ name: 'One', calls: ['cancelled'] }], { status: 'CANCELLED' })],
    ['a gate that is not met', () => buildRun([{ name: 'One', calls: [hostileCall('no')] }], { exitCode: 1 })],
    ['a gate that is not decided', () => buildRun([{ name: 'One', calls: [hostileCall('no')] }], { exitCode: 2 })],
    ['hostile texts', () => hostileRun([...HOSTILE])],
    [
      'a run that judges the calls of another one again',
      () => buildRun([{ name: 'One', calls: [] }], { derivedFrom: { runId: 'x', kind: 'remeasure' } }),
    ],
  ])('are valid: %s', async (_name, built) => {
    expect(violations(await junit(await built()))).toBe('');
  });

  it.each([
    ['skipped', '<testsuites skipped="1"/>'],
    ['disabled', '<testsuite name="a" tests="1" failures="0" errors="0" disabled="0"/>'],
    ['failures', '<testsuite name="a" tests="1" errors="0"/>'],
    ['time', '<testsuite name="a" tests="1" failures="0" errors="0" time="NaN"/>'],
    [
      'timestamp',
      '<testsuite name="a" tests="1" failures="0" errors="0"><testcase name="b" timestamp="x"/></testsuite>',
    ],
  ])('are refused by it for what is known to be refused: %s', (_name, document) => {
    expect(violations(document)).toContain('fails to validate');
  });
});

describe('times of JUnit reports', () => {
  // dorny/test-reporter#633 prints NaNms for a suite without a time; shellspec#284, kyrus/python-junit-xml#5.
  it('are those of the calls, and each suite has the sum of its cases', async () => {
    const document = await junit(await sampleRun());
    const times = suiteTimes(document);
    expect(times.map(({ own }) => own)).toEqual(times.map(({ ofCases }) => ofCases));
    expect(Math.max(...times.map(({ own }) => own))).toBeGreaterThan(0);
  });
});
