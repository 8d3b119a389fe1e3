import { compilePattern, PatternError, PatternChecker } from './pattern.js';

describe('compilePattern', () => {
  it.each([
    ['(?i)\\b(booked|confirmed)\\b', 'It is BOOKED.', true],
    ['\\d{1,2}:\\d{2}', 'at 19:30', true],
    ['[(){}]+', 'no brackets', false],
    ['\\Q(((\\E', 'a (((', true],
    ['[^]a]b', 'xb', true],
    ['[[:alpha:]]{3}', 'abc', true],
    ['\\p{Greek}', 'λ', true],
    ['café', 'un café', true],
  ])('%s on "%s" is %s', (pattern, text, expected) => {
    expect(compilePattern(pattern).test(text)).toBe(expected);
  });

  it.each([['('], ['a**'], ['[z-a]'], ['(?=a)'], ['(?<!a)b'], ['\\1'], ['a{2,1}'], ['\\'], ['(?P<n'], ['[[:nope:]]']])(
    'rejects %s, which RE2 does not support',
    (pattern) => {
      expect(() => compilePattern(pattern)).toThrow(PatternError);
    },
  );

  it.each([
    ['(a{1000}){1000}'],
    ['((((((((((a{9}){9}){9}){9}){9}){9}){9}){9}){9}){9})'],
    ['(a?){1000}'.repeat(50)],
    ['\\pL{1000}'.repeat(50)],
    [`(${'abcde'.repeat(80)}){999}`],
    [`((${'abcde'.repeat(70)}){30}){30}`],
    ['[a-z]{1000,}{5}'],
    ['(\\Q)\\E'.concat('a'.repeat(100), '){900}')],
    ['a'.repeat(2000)],
    ['(?i)[\\p{L}]{1000}'.repeat(20)],
    ['('.repeat(500)],
  ])('rejects a pattern that compiles to a huge program, %#', (pattern) => {
    expect(() => compilePattern(pattern)).toThrow(PatternError);
  });

  it.each([['(a+)+$'], ['(a|a)*b'], ['(a|aa)+$'], ['(.*a){20}b'], ['(x+x+)+y'], ['^(([a-z])+.)+[A-Z]([a-z])+$']])(
    'matches %s in linear time',
    (pattern) => {
      // A backtracking engine would exceed the test's time-out.
      expect(compilePattern(pattern).test(`${'a'.repeat(100_000)}!`)).toBe(false);
    },
  );
});

describe('PatternChecker', () => {
  it.each([['a*'], ['.*'], ['^'], ['$'], ['()'], ['a?'], ['|a'], ['']])('rejects %s, which matches every text', (p) => {
    expect(new PatternChecker().violationOf(p)).toMatch(/empty text/);
  });

  it('compiles each pattern once and no more than its budget', () => {
    const checker = new PatternChecker(330);
    for (let i = 0; i < 1_000; i++) expect(checker.violationOf('a{30}')).toBeUndefined();
    expect(checker.violationOf('b{30}')).toBeUndefined();
    expect(checker.violationOf('c{30}')).toBeUndefined();
    expect(checker.violationOf('d{30}')).toMatch(/size limit for all patterns/);
  });

  it('limits the patterns of an evaluation separately from those of its file', () => {
    const file = new PatternChecker(350);
    const evaluation = () => new PatternChecker(300, file);
    expect(evaluation().violationOf('a{60}')).toBeUndefined();
    expect(evaluation().violationOf('b{200}')).toMatch(/size limit for all patterns of an evaluation/);
    expect(evaluation().violationOf('b{60}')).toMatch(/size limit for all patterns together/);
    expect(evaluation().violationOf('a{60}')).toBeUndefined();
  });

  it.each([
    ['folded range', (i: number) => `(?i)[\\x{100}-\\x{ffff}]1b${i}`],
    ['many folded ranges', (i: number) => `(?i)[${'Ͱ-ϿЀ-ӿ'.repeat(40)}]${i}`],
    ['many Unicode classes', (i: number) => `[${'\\pL'.repeat(150)}]${i}`],
    ['many folded classes', (i: number) => `(?i)${'[^\\w\\s\\d]'.repeat(40)}${i}`],
    ['groups', (i: number) => `${'(i)'.repeat(150)}${i}`],
    ['short patterns', (i: number) => `a${i}`],
  ])('compiles hostile patterns for a tenth of a second at most: %s', (_, pattern) => {
    const checker = new PatternChecker();
    const start = performance.now();
    let accepted = 0;
    while (accepted < 20_000 && checker.violationOf(pattern(accepted)) === undefined) accepted++;
    // Some 100 ms on a quiet machine.
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(accepted).toBeLessThan(20_000);
  });
});

describe('patterns with expensive case folding', () => {
  it.each([
    ['wide ranges', `(?i)${'[a-\\x{10ffff}]'.repeat(24)}x`],
    ['many ranges of one class', `(?i)[${'a-\u{10ffff}'.repeat(160)}]`],
    ['Unicode classes', `(?i)${'[^\\pL]'.repeat(20)}`],
  ])('are rejected before they are compiled: %s', (_, source) => {
    expect(() => compilePattern(source)).toThrow('must be a smaller regular expression');
  });

  it('are accepted without folding, or with ranges of a single script', () => {
    expect(compilePattern('(?i)[a-z0-9-]+@[a-z0-9.-]+').test('Rossi@Example')).toBe(true);
    expect(compilePattern('[a-\\x{10ffff}]').test('ä')).toBe(true);
  });
});
