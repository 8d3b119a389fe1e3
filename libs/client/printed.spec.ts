import { jsonText } from './outputs.js';
import { resultMarkdown } from './markdown.js';
import { planText, resultText } from './printed.js';
import { summarise } from './summary.js';
import { comparisonText } from './compared.js';
import { callOf, comparisonOf, countsOf, runOf } from './testing/factories.js';
import { markdownText, plain } from './text.js';

const HOSTILE =
  'a\u001B[2J\u001B]0;title\u0007 | `code` <img src=x onerror=alert(1)> [x](http://evil.test) ![y](//evil) @org/team www.evil.test \u202Egnp\u009B31m\r\nnext\tline\\|';
const look = { paint: (_: string, text: string) => text, width: 120 };

const run = runOf({
  name: HOSTILE,
  status: 'FAILED',
  repeat: 2,
  counts: countsOf({ failed: 1 }),
  minimumScore: 80,
  warnings: [HOSTILE],
  reasons: [`The critical evaluation "${HOSTILE}" failed.`],
});
const summary = summarise(run, [callOf({ evaluationName: HOSTILE, outcome: 'failed', score: 0, reason: HOSTILE })]);

/** Control characters and bidirectional overrides. */

const OBEYED = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u2028-\u202E\u2066-\u2069]/;

describe('printed results', () => {
  it('replaces control characters in untrusted text', () => {
    const plan = {
      ...{
        agentId: 'agent',
        name: HOSTILE,
        repeat: 1,
        concurrency: 1,
        minimumScore: null,
        minimumPassRate: null,
        notWorseThan: null,
        baselineRunId: null,
        agentVersion: null,
        allowedUncounted: 0,
        totalCalls: 1,
      },
      evaluations: [
        {
          id: 'e',
          key: HOSTILE,
          name: HOSTILE,
          critical: true,
          provisional: false,
          tags: [HOSTILE],
          personalityId: 'p',
          caller: 'scripted' as const,
          calls: 1,
          cases: [{ key: 'e', variables: null }],
          explanation: [HOSTILE],
        },
      ],
      warnings: [HOSTILE],
      agentVariables: {},
      assistantVersion: null,
      maxPaidAttempts: 2,
      maxPaidSeconds: null,
      dialling: { numbers: [{ number: HOSTILE, of: 'agent' as const }], calls: 1, maxMinutes: 2 },
      protocol: HOSTILE,
      medium: 'text' as const,
    };
    const printed = [resultText(summary, look), planText(plan, look), comparisonText(comparisonOf(HOSTILE), look)];
    for (const text of [...printed, jsonText(summary), resultMarkdown(summary)]) {
      expect(text).toContain('evil');
      expect(text).not.toMatch(OBEYED);
    }
    expect(plain(HOSTILE)).toContain('a�[2J�]0;title�');
    expect(JSON.parse(jsonText(summary))).toEqual(summary);
  });

  it('wraps reasons to the width of the terminal, without trailing spaces', () => {
    const long = summarise(run, [
      callOf({ outcome: 'failed', reason: 'The agent never said what it was asked for. '.repeat(5) }),
    ]);
    const lines = resultText(long, { ...look, width: 90 }).split('\n');
    const table = lines.slice(0, lines.indexOf(''));
    expect(table.length).toBeGreaterThan(4);
    for (const line of table) expect(line).toMatch(/^.{1,90}(?<! )$/);
    expect(table.join(' ').match(/never/g)).toHaveLength(5);
  });

  it('keeps columns aligned with wide characters', () => {
    const [, first, second] = resultText(
      summarise(runOf(), [callOf({ evaluationName: '予約' }), callOf({ evaluationId: 'b', evaluationName: 'Book' })]),
      look,
    ).split('\n');
    // Each of the two characters takes two columns.
    expect(first).toMatch(/^passed {3}予約/);
    expect(first!.indexOf('1/1') + 2).toBe(second!.indexOf('1/1'));
  });

  it('has a column for retried calls if there are any', () => {
    const calls = [callOf({ retries: 1 }), callOf({ evaluationId: 'b', evaluationName: 'Cancels' })];
    const retried = summarise(runOf({ retriedCalls: 1 }), calls);
    expect(resultText(retried, look)).toMatch(/Passed {2}Retried .*\n.*Books a table +1\/1 +1 .*\n.*Cancels +1\/1 +– /);
    expect(resultMarkdown(retried)).toMatch(/\| Passed \| Retried \|(.*\n){2}.*Books a table \| 1\/1 \| 1 \|/);
    expect(resultText(summarise(runOf(), [callOf()]), look)).not.toContain('Retried');
    expect(resultMarkdown(summarise(runOf(), [callOf()]))).not.toContain('Retried');
  });

  it("says what was paid, and that latencies may be the account's if calls waited for its lines", () => {
    const paid = resultText(summarise(runOf({ paidSeconds: 83.4, callsThatWaited: 2 }), [callOf()]), look);
    expect(paid).toContain('Note: 2 calls waited for a free line of the platform, or for a free number');
    expect(paid).toContain("may be the account's, not the agent's.");
    expect(paid).toContain('Paid at the platform: 1 min 23 s.');
    expect(resultText(summarise(runOf(), [callOf()]), look)).not.toMatch(/waited|Paid/);
  });

  it('uses colours only if requested', () => {
    const paint = (style: string, text: string) => `<${style}>${text}</>`;
    expect(resultText(summary, { ...look, paint })).toContain('<red>failed</>');
  });
});

describe('Markdown', () => {
  it('has one row per evaluation even if its name contains Markdown', () => {
    const rows = resultMarkdown(summary)
      .split('\n')
      .filter((line) => line.startsWith('|'));
    expect(rows).toHaveLength(3);
    // Pipes in names do not add cells: the count equals that of the header.
    for (const row of rows) expect(row.match(/\|/g)).toHaveLength(9);
    expect(rows[2]).toMatch(/^\| ❌ failed \| a�/);
  });

  it.each([
    ['`code`', '&#96;code&#96;'],
    ['a | b \\| c', 'a &#124; b &#92;&#124; c'],
    ['<b>&amp;', '&#60;b&#62;&#38;amp;'],
    ['[x](http://evil.test)', '&#91;x&#93;&#40;http:/&#8203;/evil.test&#41;'],
    ['WWW.evil.test @org/team', 'WWW&#8203;.evil.test @&#8203;org/team'],
    ['**bold** _it_ ~no~ #1 $x$', '&#42;&#42;bold&#42;&#42; &#95;it&#95; &#126;no&#126; &#35;1 &#36;x&#36;'],
    ['two\n\nlines', 'two lines'],
  ])('escapes %j', (text, escaped) => {
    expect(markdownText(text)).toBe(escaped);
  });
});
