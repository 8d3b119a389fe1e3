import fc from 'fast-check';
import { renderJunit } from './index.js';
import { buildRun, type Built } from './testing/build.js';
import { HOSTILE, hostileCall, hostileRun } from './testing/hostile.js';
import { sampleRun } from './testing/sample-run.js';
import { readXml, type XmlElement } from './testing/xml-reader.js';

async function junit({ run, read }: Pick<Built, 'run' | 'read'>): Promise<XmlElement> {
  let document = '';
  for await (const part of renderJunit(run, read)) document += part;
  return readXml(document);
}

const casesIn = ({ children }: XmlElement): XmlElement[] => children.filter(({ name }) => name === 'testcase');
const casesOf = (root: XmlElement): XmlElement[] => root.children.flatMap(casesIn);
/** Without the case of the gate, which comes last. */
const callCasesOf = (root: XmlElement): XmlElement[] => casesOf(root).slice(0, -1);
const having = (elements: readonly XmlElement[], name: string) =>
  elements.filter(({ children }) => children.some((child) => child.name === name)).length;
const finding = (code: string) =>
  ({ type: 'finding', code, severity: 'error', detail: 'What it means', start: 0, end: 0, turn: 0 }) as const;
const fullName = ({ attributes: { classname, name } }: XmlElement) => `${classname} ${name}`;

function checkCounts(element: XmlElement, cases: readonly XmlElement[]): void {
  const { tests, failures, errors, skipped } = element.attributes;
  expect([tests, failures, errors, skipped].map(Number)).toEqual([
    cases.length,
    having(cases, 'failure'),
    having(cases, 'error'),
    having(cases, 'skipped'),
  ]);
}

/** `skipped` is not allowed in the root. */
function checkRoot(root: XmlElement): void {
  checkCounts(
    { ...root, attributes: { ...root.attributes, skipped: String(having(casesOf(root), 'skipped')) } },
    casesOf(root),
  );
  expect(root.attributes).not.toHaveProperty('skipped');
}

describe('renderJunit', () => {
  let sample: Built;
  let root: XmlElement;
  beforeAll(async () => {
    sample = await sampleRun();
    root = await junit(sample);
  });

  it('skips calls of provisional evaluations, with their outcome', async () => {
    const call = { ...hostileCall('no'), outcome: 'failed' as const, score: 20, reason: 'Not met: Confirms' };
    const built = buildRun([{ name: 'New', provisional: true, critical: true, calls: [call] }]);
    const xml = await junit(built);
    checkRoot(xml);
    const [shown] = callCasesOf(xml);
    expect(shown!.children[0]).toMatchObject({
      ...{ name: 'skipped', attributes: { message: `Provisional, failed: ${call.reason}` } },
    });
    expect(built.run).toMatchObject({ exitCode: 2, score: null });
  });

  it('has one suite per first tag and one uniquely named case per call', () => {
    expect(root.children.map(({ attributes }) => attributes.name)).toEqual([
      'booking',
      'facts',
      'safety',
      'manners',
      'evaluations',
      'gate',
    ]);
    const cases = callCasesOf(root);
    expect(cases).toHaveLength(sample.calls.length);
    expect(new Set(cases.map(fullName)).size).toBe(cases.length);
    expect(cases[0]?.attributes).toMatchObject({ classname: 'booking', name: 'Books a table, detail by detail #1' });
    for (const { attributes } of cases) expect(attributes.time).toMatch(/^\d+\.\d{3}$/);
  });

  it('begins a failure with the protocol error that explains it', async () => {
    const call = {
      ...sample.calls.find(({ outcome }) => outcome === 'failed')!,
      timeline: [finding('wrong_encoding'), finding('no_clear_on_barge_in')],
    };
    const document = await junit({
      run: sample.run,
      read: async function* () {
        yield call;
      },
    });
    const failure = casesOf(document)
      .flatMap(({ children }) => children)
      .find(({ name }) => name === 'failure')!;
    expect(failure.text).toMatch(/^Protocol error wrong_encoding: What it means\nNot met/);
    expect(failure.text.match(/Protocol error/g)).toHaveLength(1);
  });

  it('says which calls needed a second attempt, and why', () => {
    const properties = root.children.flatMap(({ children }) => children.filter(({ name }) => name === 'properties'));
    expect(properties.map(({ children }) => children[0]?.attributes)).toEqual([{ name: 'retriedCalls', value: '1' }]);
    const retried = callCasesOf(root).filter(({ children }) =>
      children.some(({ text }) => text.includes('Attempt 1 of 3')),
    );
    expect(retried.map(fullName)).toEqual(['booking Books nothing without consent #2']);
    const [{ children = [] } = {}] = retried;
    expect(children.at(-1)?.text).toMatch(
      /^Attempt 1 of 3: error: The agent responded with a server error: .*\nAttempt 2 of 3: error: .*\n0:00\.\d  Caller: Hello/,
    );
  });

  it('has counts that match its cases', () => {
    for (const suite of root.children) checkCounts(suite, casesIn(suite));
    checkRoot(root);
    expect(root.attributes).toMatchObject({ tests: '56', failures: '15', errors: '2', time: '97.000' });
  });

  it('describes a failed call with the reasons, the quoted evidence and the transcript', () => {
    const failed = casesOf(root).find(
      (element) => fullName(element) === 'facts Answers questions about the restaurant #2',
    );
    const [failure, out] = failed!.children;
    expect(failure).toMatchObject({ name: 'failure', attributes: { type: 'not_met' } });
    expect(failure!.attributes.message).toMatch(/^Not met: States the closing time/);
    expect(failure!.text).toContain('Not met: States no wrong opening hours');
    expect(failure!.text).toContain(
      'at 0:00.9: "We are open every day of the week, Mondays too, from noon until 11 pm."',
    );
    expect(out!.name).toBe('system-out');
    expect(out!.text.split('\n').slice(0, 2)).toEqual([
      '0:00.0  Caller: Good evening. Until when are you open?',
      expect.stringMatching(/^0:00\.9 {2}Agent: Good day, this is Bella Vista\./),
    ]);
  });

  it('distinguishes errors, failures and invalid calls', () => {
    const children = casesOf(root).flatMap((element) => element.children);
    expect(children.find(({ name }) => name === 'error')?.attributes).toEqual({
      message: expect.stringMatching(
        /^The agent responded with a server error: HTTP 500 \(http:.+\); it said "\{"error":.+ agent fail".+"\.$/,
      ),
      type: 'agent_status',
    });
    expect(children.find(({ attributes }) => attributes.type === 'invalid')).toMatchObject({
      name: 'error',
      attributes: { message: 'The caller stated "01715550199", which is not in its scenario.' },
    });
  });

  it('reports cancelled and pending calls as skipped', async () => {
    const built = buildRun([{ name: 'Waits', calls: ['cancelled', 'pending'] }], { endedAt: null, exitCode: null });
    const waiting = await junit(built);
    expect(waiting.attributes).toEqual({
      name: 'Nightly booking regression',
      tests: '3',
      failures: '0',
      errors: '0',
    });
    expect(casesOf(waiting).map(({ children }) => children[0]?.attributes.message)).toEqual([
      'Cancelled',
      'Pending: the call has not ended yet',
      'Pending: the run has not ended yet',
    ]);
  });

  it.each([
    ['failure', 1, 'FAILED', ['The score is low.', 'Books failed.'], 'The score is low. Books failed.'],
    ['error', 2, 'FAILED', ['One call could not be tested.'], 'One call could not be tested.'],
    ['skipped', 2, 'CANCELLED', [], 'The run was cancelled'],
  ] as const)(
    'has a case "gate" as %s for exit code %i of a run that is %s',
    async (name, exitCode, status, reasons, message) => {
      const decided = await junit(
        buildRun([{ name: 'One', calls: [hostileCall('no')] }], { exitCode, status, reasons }),
      );
      const last = casesOf(decided).at(-1)!;
      expect(fullName(last)).toBe('gate gate');
      expect(last.children).toMatchObject([{ name, attributes: { message } }]);
      checkRoot(decided);
    },
  );

  it('has a passed case "gate" if the gate is met', async () => {
    const met = await junit(
      buildRun([{ name: 'One', calls: [hostileCall('no')] }], { exitCode: 0, status: 'COMPLETED' }),
    );
    expect(casesOf(met).at(-1)!.children).toEqual([]);
  });

  it('distinguishes evaluations with the same name, by key if they have one', async () => {
    const calls = [hostileCall('no')];
    const built = buildRun([
      { name: 'Same', key: 'a', calls },
      { name: 'Same\n', calls },
      { name: 'Same', calls },
      { name: 'Same (2)', calls },
      { name: 'Same\u0000', key: 'b', calls },
      { name: 'Same␀', key: 'b', calls },
    ]);
    const names = callCasesOf(await junit(built)).map(({ attributes }) => attributes.name);
    expect(names).toEqual(['Same (a)', 'Same', 'Same (2)', 'Same (2) (2)', 'Same␀ (b)', 'Same␀ (b) (2)']);
  });

  it('requests the calls of one suite at a time, and ignores other calls in the result', async () => {
    const all = await junit({ ...sample, read: () => sample.read({}) });
    expect(all).toEqual(root);
  });

  it('limits the number of transcripts', async () => {
    const calls = Array.from({ length: 400 }, () => hostileCall('no'));
    const outs = having(casesOf(await junit(buildRun([{ name: 'Many', calls }]))), 'system-out');
    expect(outs).toBe(300);
  });

  it.each(HOSTILE.map((text) => [text.slice(0, 60), text]))(
    'is well-formed for hostile text: %j',
    async (_name, text) => {
      const cases = callCasesOf(await junit(hostileRun([text])));
      expect(cases).toHaveLength(5);
      expect(new Set(cases.map(fullName)).size).toBe(5);
    },
  );

  it('is well-formed and complete for any text', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc
        .array(fc.constantFrom('<', ']]>', '&', '"', '\u0000', '\uD800', '\uFFFE', '\n', '\t', ' ', 'a'))
        .map((p) => p.join('')),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 4 }), async (texts) => {
        const built = hostileRun(texts);
        const found = await junit(built);
        checkRoot(found);
        const cases = callCasesOf(found);
        expect(new Set(cases.map(fullName)).size).toBe(built.calls.length);
      }),
    );
  });
});
