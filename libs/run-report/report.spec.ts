import { PLAYER_CSP } from './voice/index.js';
import { createHash } from 'node:crypto';
import { type ReportedCall, type ReportedRun, renderReport, REPORT_CSP } from './index.js';
import { buildRun, type Built, readerOf } from './testing/build.js';
import { HOSTILE, hostileCall, hostileRun } from './testing/hostile.js';
import { sampleRun } from './testing/sample-run.js';
import { words } from './testing/words.js';

async function page({ run, read }: Pick<Built, 'run' | 'read'>): Promise<string> {
  let document = '';
  for await (const part of renderReport(run, read)) document += part;
  return document;
}

const count = (text: string, part: string | RegExp) => text.split(part).length - 1;
/** Start tags only. */
const tags = (document: string) => document.match(/<[a-z][^>]*>/g) ?? [];

describe('renderReport', () => {
  let sample: Built;
  let document: string;
  beforeAll(async () => {
    sample = await sampleRun();
    document = await page(sample);
  });

  it('has a content security policy that allows only its own style sheet and player', () => {
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(document) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    const policy = `default-src 'none'; style-src 'sha256-${hash}'; ${PLAYER_CSP}; base-uri 'none'; form-action 'none'`;
    expect(REPORT_CSP).toBe(`${policy}; frame-ancestors 'none'`);
    const [, meta = ''] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(document) ?? [];
    expect(meta.replace(/&#39;/g, "'")).toBe(policy);
  });

  it('contains no script, no style attribute and only links to its own anchors', () => {
    for (const tag of tags(document)) {
      expect(tag).not.toMatch(/^<(script|link|img|iframe|form|base|object)|\s(style|on\w+|src|srcset)=/);
    }
    const hrefs = tags(document).flatMap((tag) => /\shref="([^"]*)"/.exec(tag)?.[1] ?? []);
    const ids = tags(document).flatMap((tag) => /\sid="([^"]*)"/.exec(tag)?.[1] ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    expect(hrefs.length).toBeGreaterThan(100);
    expect(hrefs.filter((href) => !href.startsWith('#') || !ids.includes(href.slice(1)))).toEqual([]);
  });

  it('starts with the verdict of the run, its reasons and the calls that caused it', () => {
    const [top = ''] = words(document).split('55 calls');
    expect(top).toContain(
      '✗ Failed 87.7 of 100 Required: every planned call tested, every counted call of the critical evaluations (2) passed, a score of at least 80.',
    );
    expect(top).toMatch(
      /The critical evaluation "Keeps its instructions to itself" failed in \d of \d counted calls\./,
    );
    expect(top).toMatch(
      /2 of 55 planned calls could not be tested \(1 ended as error, 1 ended as invalid\); allowed: 0\./,
    );
    expect(top).toContain(
      '✗ Failed Answers questions about the restaurant 2 calls: 2 5 Not met: States the closing time',
    );
    expect(top).toContain('! Error Books nothing without consent call 2 The agent responded with a server error');
    expect(top).toContain('◇ Invalid Answers a curious guest call 3');
  });

  it('shows how many calls needed a second attempt, and the earlier attempts of each, collapsed', () => {
    expect(words(document)).toContain('Retried 1 of 55 calls needed a second attempt');
    expect(document.match(/<span class="retried">\d attempts<\/span>/g)).toEqual([
      '<span class="retried">3 attempts</span>',
    ]);
    const start = document.indexOf('<section class="attempts">');
    const attempts = document.slice(start, document.indexOf('<details class="call', start));
    expect(count(document, '<section class="attempts">')).toBe(1);
    expect(words(attempts)).toMatch(
      /Earlier attempts ! Error Attempt 1 of 3, 400 ms The agent responded with a server error/,
    );
    expect(words(attempts)).toContain('The agent received the call id');
    expect(count(attempts, '<details class="attempt">')).toBe(2);
    expect(count(attempts, '<section class="transcript">')).toBe(2);
  });

  it('limits the transcripts of earlier attempts', async () => {
    const attempted = sample.calls.find(({ earlierAttempts }) => earlierAttempts.length > 0)!;
    const [attempt] = attempted.earlierAttempts;
    const calls = [{ ...attempted, attempts: 251, earlierAttempts: Array.from({ length: 250 }, () => attempt!) }];
    const found = await page({ run: sample.run, read: readerOf(calls) });
    expect(count(found, '<details class="attempt">')).toBe(250);
    expect(count(found, 'Its transcript is omitted here.')).toBe(50);
  });

  it('shows the pass rate with its interval, the stability and the latencies of each evaluation', () => {
    expect(words(document)).toContain('✗ Failed ≈ Flaky 86.7 60 % 3 of 5 23 % to 88 % 752 ms 1.09 s 1.17 s');
    expect(words(document)).toContain('✗ Failed Stable fail 50 0 % 0 of 5 0 % to 43 %');
    expect(words(document)).toContain('✓ Passed 1 retried Stable pass 100 100 % 4 of 4 51 % to 100 %');
  });

  it('shows a failed call with its unmet conditions and transcript, and highlights the evidence', () => {
    const start = document.indexOf('id="e3-r2"');
    const call = document.slice(start, document.indexOf('<details class="call', start));
    const text = words(call);
    expect(text.indexOf('Not met States no wrong opening hours')).toBeLessThan(text.indexOf('4 met'));
    expect(text).toContain('0:00.9 Agent until 0:06.9 answered after 858 ms');
    expect(text).toContain('The agent ended the call: The agent hung up');
    expect(call).toMatch(
      /<mark class="not-met">We are open every day of the week[^<]*<\/mark>\s*<a\s+class="ref not-met"\s+href="#e3-r2-f2"/,
    );
  });

  it('shows a silent agent, an error and a judge that contradicted itself', () => {
    expect(words(document)).toMatch(/No answer from the agent for 5\.00 s/);
    expect(words(document)).toContain('Error agent_status The agent responded with a server error: HTTP 500');
    expect(words(document)).toContain('The judge contradicted itself in 3 answers');
  });

  it('shows all answers of the judge with their quotes, and whether they agree', async () => {
    const call = hostileCall('three vegan dishes');
    const evidence = { entry: 1, quote: 'three vegan dishes' };
    const yes = { met: true, reasoning: 'It names them', evidence };
    const no = { met: false, reasoning: 'It names no price', evidence };
    const none = { met: null, reasoning: '', evidence: null };
    const shown = async (...samples: (typeof yes | typeof none)[]) => {
      const criteria = call.criteria.map((criterion) => ({ ...criterion, samples }));
      const built = buildRun([{ name: 'Vegan', calls: [{ ...call, criteria }] }]);
      return /<details class="samples">.*?<\/details>/s.exec(await page(built))?.[0];
    };
    const twice = (await shown(yes, yes))!;
    expect(words(twice)).toContain(
      'The judge agreed with itself in 2 answers Met : It names them three vegan dishes at 0:00.0',
    );
    expect(count(twice, '<a href="#e1-r1-t1">')).toBe(2);
    const split = words((await shown(yes, no, yes))!);
    expect(split).toContain('The judge contradicted itself in 3 answers');
    expect(split).toContain('Not met : It names no price three vegan dishes');
    expect(words((await shown(yes, none, yes))!)).toContain('The judge gave no verdict in 1 of 3 answers');
    expect(words((await shown(none))!)).toContain('The judge gave no verdict in 1 of 1 answer No verdict ');
    expect(await shown(yes)).toBeUndefined();
  });

  it('shows pass^k and pass@k for a flaky evaluation', () => {
    // Three of five: C(3, 2) / C(5, 2) and 1 - C(2, 2) / C(5, 2).
    expect(words(document)).toMatch(/Flaky 60 % 3 of 5 23 % to 88 % pass\^2 30 % pass@2 90 %/);
  });

  it('expands calls that did not pass and collapses all others', () => {
    const open = tags(document).filter((tag) => /^<details class="call/.test(tag) && /\sopen/.test(tag));
    // Five calls of one evaluation failed for the same reason: only three are expanded.
    const states = open.map((tag) => /class="call (\w+)"/.exec(tag)?.[1]);
    expect(states.filter((state) => state === 'failed')).toHaveLength(12);
    expect(states.filter((state) => state !== 'failed').sort()).toEqual(['error', 'invalid']);
  });

  it.each([
    ['COMPLETED', 'Passed', 0],
    ['FAILED', 'Failed', 1],
    ['FAILED', 'Not fully tested', 2],
    ['CANCELLED', 'Cancelled', 2],
    ['RUNNING', 'Running', null],
    ['QUEUED', 'Queued', null],
  ] as const)('labels a run with status %s as %s', async (status, word, exitCode) => {
    const built = buildRun([{ name: 'One', calls: ['pending'] }], {
      status,
      exitCode,
      score: null,
      minimumScore: null,
      reasons: [],
    });
    const found = await page(built);
    expect(found).toContain(`<title>${word}: Nightly booking regression</title>`);
    expect(words(found)).toContain(`${word} – of 100 Required: every planned call tested, every counted call passed.`);
    expect(words(found)).toContain('… Pending Call It has not ended yet.');
  });

  it('labels an evaluation without results as pending, and as cancelled once the run has ended', async () => {
    const evaluations = [{ name: 'One', calls: ['cancelled' as const] }];
    const row = (found: string) => /<td[^>]*data-label="Outcome".*?<\/td>/s.exec(found)?.[0] ?? '';
    expect(words(row(await page(buildRun(evaluations, { status: 'CANCELLED' }))))).toContain('Cancelled');
    expect(words(row(await page(buildRun(evaluations, { status: 'RUNNING' }))))).toContain('Pending');
  });

  it('shows calls of provisional evaluations apart, in no figure and not among those that did not pass', async () => {
    const call = { ...hostileCall('no'), outcome: 'failed' as const, score: 20, reason: 'Not met: Confirms' };
    const text = words(await page(buildRun([{ name: 'New', provisional: true, calls: [call] }])));
    expect(text).toMatch(/Provisional .*Not met: Confirms .*The evaluation was provisional: this is not counted/);
    expect(text).toContain('1 provisional');
    expect(text).not.toContain('Calls that did not pass');
  });

  it("says what was paid, and beside the latencies that they may be the account's", async () => {
    const evaluations = [{ name: 'a', calls: [{ ...hostileCall('no'), outcome: 'passed' as const, score: 100 }] }];
    const paid = words(await page(buildRun(evaluations, { paidSeconds: 12, callsThatWaited: 1 })));
    expect(paid).toMatch(/Paid at the platform 12/);
    expect(words(await page(buildRun(evaluations)))).not.toMatch(/Paid at the platform|waited for a free line/);
    const answered = words(await page({ ...sample, run: { ...sample.run, callsThatWaited: 1 } }));
    expect(answered).toMatch(/Response latency .* 1 call waited for a free line of the platform, or for a free number/);
  });

  it('shows by how much a time may be off, and where speech goes on after a pause', async () => {
    const call = hostileCall('no');
    const speech = { type: 'speech', speaker: 'agent', text: 'One', start: 0, end: 0, turn: 1 } as const;
    const timeline = [speech, { ...speech, text: ' two.', start: 900, end: 900, continues: true } as const];
    const { latency } = call.measures;
    const stalled = {
      ...call.measures,
      latency: { ...latency, worst: 310, plusMinusMs: 300 },
      plusMinusMs: { durationMs: 300, timeToFirstWordMs: 0, longestSilenceMs: 40 },
    };
    const shown = words(await page(buildRun([{ name: 'a', calls: [{ ...call, timeline, measures: stalled }] }])));
    expect(shown).toMatch(/Duration 1\.00 s ± 300 ms/);
    expect(shown).toMatch(/Worst 310 ms ± 300 ms First word after 0 ms Longest silence 0 ms ± 40 ms/);
    expect(shown).toMatch(/Agent after a pause two\./);
    expect(words(await page(buildRun([{ name: 'a', calls: [call] }])))).not.toContain('±');
  });

  it('shows the transcripts of 300 unsuccessful and 100 passed calls, and says where to find the others', async () => {
    const failed = hostileCall('no');
    const passed = { ...failed, outcome: 'passed', score: 100 } as const;
    const calls = [...Array.from({ length: 310 }, () => failed), ...Array.from({ length: 120 }, () => passed)];
    const found = await page(buildRun([{ name: 'Many', calls }]));
    expect(count(found, '<section class="transcript">')).toBe(400);
    expect(count(found, 'The transcript is omitted here')).toBe(30);
    expect(words(found)).toContain('The transcripts of 30 calls are omitted from this page; read them with');
    expect(words(found)).toContain('210 more calls below.');
  });

  it('keeps only one call in memory', async () => {
    const { run, calls } = buildRun([
      { name: 'Many', calls: Array.from({ length: 2_000 }, () => 'cancelled' as const) },
    ]);
    let given = 0;
    const read = async function* () {
      for (const call of calls) {
        given++;
        yield call;
      }
    };
    let shown = 0;
    for await (const part of renderReport(run, read)) {
      shown += count(part, '<details class="call');
      expect(given - shown).toBeLessThanOrEqual(1);
    }
    expect(shown).toBe(2_000);
  });

  it('lists failures that differ in measured times only as one item', async () => {
    const slow = (reason: string) => ({ ...hostileCall('no'), reason });
    const calls = ['after 196 ± 29 ms, not "room 7"', 'after 1.5 s, not "room 7"', 'after 212 ms, not "room 8"'].map(
      slow,
    );
    const built = buildRun([{ name: 'Slow', calls }]);
    const [, nav = ''] = /<nav class="failures".*?<ol>(.*?)<\/ol>/s.exec(await page(built)) ?? [];
    expect(nav.split('<li').slice(1).map(words)).toEqual([
      expect.stringContaining('2 calls: 1 2 after 196 ± 29 ms, not "room 7"'),
      expect.stringContaining('call 3 after 212 ms, not "room 8"'),
    ]);
  });

  it('shows the failure code after the reason of calls that ended as error, in the list and at the call', async () => {
    const error = { ...hostileCall('no'), outcome: 'error', score: null, reason: 'It is down.' } as const;
    const failure = { code: 'stt_failed', message: 'It is down', fault: 'infrastructure', retryable: true } as const;
    const calls = [
      { ...error, failure },
      { ...hostileCall('no'), reason: 'Wrong.', failure },
    ];
    const document = await page(buildRun([{ name: 'Down', calls }]));
    expect(count(document, 'It is down. (stt_failed)')).toBe(2);
    expect(document).not.toContain('Wrong. (');
  });

  it('reads only the listed failures before it renders the first call', async () => {
    const failed = hostileCall('no');
    const { run, calls } = buildRun([{ name: 'Many', calls: Array.from({ length: 500 }, () => failed) }]);
    let given = 0;
    const read = async function* (): AsyncGenerator<ReportedCall> {
      for (const call of calls) {
        given++;
        yield call;
      }
    };
    for await (const part of renderReport(run, read)) if (part.includes('id="calls"')) break;
    expect(given).toBeLessThanOrEqual(101);
  });

  it('filters the calls itself if the reader returns all of them', async () => {
    expect(await page({ ...sample, read: () => sample.read({}) })).toBe(document);
  });

  it('limits its size for very long texts', async () => {
    const built = hostileRun(['x'.repeat(1_000_000)]);
    expect((await page(built)).length).toBeLessThan(400_000);
  });

  it('throws for a call of an evaluation that is not in the run', async () => {
    const run: ReportedRun = { ...sample.run, evaluations: sample.run.evaluations.slice(1) };
    await expect(page({ run, read: readerOf(sample.calls) })).rejects.toThrow(
      'does not belong to any evaluation of run',
    );
  });

  it.each(HOSTILE.map((text) => [text.slice(0, 60), text]))(
    'has the same tags for hostile text: %j',
    async (_name, text) => {
      const shape = (found: string) => tags(found).map((tag) => /^<[a-z0-9]+/.exec(tag)?.[0]);
      const [hostile, harmless] = await Promise.all([page(hostileRun([text])), page(hostileRun(['harmless']))]);
      // Shortened texts are followed by a note.
      const without = (names: (string | undefined)[]) => names.filter((name) => name !== '<small');
      expect(without(shape(hostile))).toEqual(without(shape(harmless)));
    },
  );

  it('offers the outcomes that occur as a filter without a script, and links to the service', async () => {
    const states = { passed: 2, failed: 1 };
    const counts = { total: 3, invalid: 0, error: 0, cancelled: 0, pending: 0, provisional: 0, ...states };
    const of = (more: Partial<ReportedRun>) => page({ ...sample, run: { ...sample.run, ...more } });
    const shown = await of({ counts, serviceUrl: 'https://vat.example.com' });
    expect([...shown.matchAll(/id="show-(\w+)"/g)].map(([, state]) => state)).toEqual(['all', 'passed', 'failed']);
    expect(shown).toContain('.calls:has(#show-failed:checked) .call:not(.failed)');
    expect(shown).toContain('<a href="https://vat.example.com/docs">https://vat.example.com</a>');
    expect(await of({ counts: { ...counts, failed: 0 } })).not.toContain('id="show-');
  });
});
