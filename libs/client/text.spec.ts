import fc from 'fast-check';
import { comparisonText } from './compared.js';
import { connectionText } from './connection.js';
import { resultMarkdown } from './markdown.js';
import { jsonText } from './outputs.js';
import { resultText } from './printed.js';
import { progressOf } from './progress.js';
import { summarise } from './summary.js';
import { callOf, comparisonOf, countsOf, runOf } from './testing/factories.js';
import { printable } from './text.js';

/** Tokens that log viewers obey, and what may hide them. */
const TOKENS = [
  ...[
    '##vso[task.setvariable variable=A]b',
    "##teamcity[buildStatus status='SUCCESS']",
    '##[error]',
    '::error::',
    '::set-output name=a::b',
    ':',
    '#',
    '##',
    '[',
  ],
  ...['\n', '\r', '\r\n', '\t', ' ', '\u00A0', '\u2003', '\u2028', '\u0085', '\u001B[31m', '\u001B[2J', '\u0007'],
  ...['\u202E', '\u200B', '|', '`', '<img>', '@org/team', 'words', 'a longer sentence', '\uD800', '\u009B31m'],
];
const hostile = fc
  .array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...TOKENS) }, fc.string({ maxLength: 8 })), { maxLength: 12 })
  .map((parts) => parts.join(''));

/** vat's own sequences: colours and the erasure of the progress line. */
const OWN = /\u001B\[\d+m|\r\u001B\[2K/g;
const CONTROL = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028\u2029]/;

function expectInert(text: string): void {
  const bare = text.replace(OWN, '');
  expect(bare).not.toMatch(CONTROL);
  expect(bare).not.toMatch(/##(vso|teamcity)?\[/i);
  for (const line of bare.split('\n')) expect(line).not.toMatch(/^\s*::/);
}

describe('printable', () => {
  it.each([
    ['##vso[task.complete result=Failed;]', '#\u200B#vso[task.complete result=Failed;]'],
    ['said ##[error]stop', 'said #\u200B#[error]stop'],
    ["##teamcity[buildStatus status='SUCCESS']", "#\u200B#teamcity[buildStatus status='SUCCESS']"],
    ['###[group]', '##\u200B#[group]'],
    ['#\u001B[31m#\u001B[39mvs\u001B[1mo[task]', '#\u200B\u001B[31m#\u001B[39mvs\u001B[1mo[task]'],
    ['##\u001B[31m[error]', '#\u200B#\u001B[31m[error]'],
    ['##\u001B[31m', '##\u001B[31m'],
    ['::add-mask::a', ':\u200B:add-mask::a'],
    ['ok\n \t\u00A0::error::x', 'ok\n \t\u00A0:\u200B:error::x'],
    ['\u001B[31m::error::x\u001B[39m', '\u001B[31m:\u200B:error::x\u001B[39m'],
    [':\u001B[31m::error::x', ':\u200B\u001B[31m::error::x'],
    ['std::vector and # [x]', 'std::vector and # [x]'],
    ['a\u0000b\u001B]0;title\u0007\u009B31m', 'a\uFFFDb\uFFFD]0;title\uFFFD\uFFFD31m'],
    ['two\r\nlines\tand a tab', 'two\nlines\tand a tab'],
  ])('prints %j without commands and control characters', (text, expected) => {
    expect(printable(text)).toBe(expected);
  });

  it('changes nothing that it has made', () => {
    fc.assert(fc.property(hostile, (text) => expect(printable(printable(text))).toBe(printable(text))));
  });
});

describe('what vat prints of an agent', () => {
  it('contains no command and no control character, however lines are wrapped and coloured', () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: 20, max: 200 }), fc.boolean(), (text, width, isColoured) => {
        const paint = (_: string, cell: string) => (isColoured ? `\u001B[31m${cell}\u001B[39m` : cell);
        const look = { paint, width };
        const run = runOf({
          name: text,
          reasons: [text],
          warnings: [text],
          counts: countsOf({ failed: 1 }),
          repeat: 2,
        });
        const summary = summarise(run, [callOf({ evaluationName: text, outcome: 'failed', reason: text })]);
        const test = { message: text, said: text, cure: text, step: 'answered', status: 'failed', ms: 1 } as const;
        const findings = [{ severity: 'error' as const, code: 'code', detail: text, count: 1, atMs: 0 }];
        const printed = [
          resultText(summary, look),
          comparisonText(comparisonOf(text), look),
          connectionText({ ok: false, callId: text, steps: [test], findings } as never, paint),
          progressText(text, false),
          progressText(text, true),
          text,
        ];
        for (const each of printed) expectInert(printable(each));
        // These are files, which a later step may print.
        for (const file of [resultMarkdown(summary), jsonText(summary)]) expectInert(file);
      }),
    );
  });

  it('keeps JSON readable by programs', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const summary = summarise(runOf({ name: text }), [callOf({ reason: text })]);
        expect(JSON.parse(jsonText(summary))).toEqual(JSON.parse(JSON.stringify(summary)));
      }),
    );
  });
});

/** What a run with one call shows while it goes on. */
function progressText(text: string, isTTY: boolean): string {
  const written: string[] = [];
  const stream = { isTTY, columns: 40, write: (line: string) => written.push(line) };
  const progress = progressOf(runOf({ name: text }), stream, (_, cell) => cell, {});
  const call = { id: 'a', evaluationName: text, caseKey: 'a', variables: null, repetition: 1, score: 0 } as const;
  progress.show({ type: 'call', call: { ...call, status: 'ENDED', outcome: 'failed', reason: text } });
  progress.show({ type: 'note', text });
  progress.end();
  return written.join('');
}
