import fc from 'fast-check';
import { parse } from 'csv-parse/sync';
import { readCsv } from './csv-file.js';
import { csvLines } from './csv-lines.js';
import { escapeFormula, unescapeFormula } from './formula.js';
import { isTooDeep } from './json-depth.js';
import { duplicateName } from './json-duplicates.js';
import { readJson } from './json-file.js';
import { jsonErrorPosition } from './json-position.js';
import { sequentialIds } from '../../../platform/database/sequential-ids.js';
import { refusalOf } from './testing/refusal.js';

describe('escapeFormula', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', '\n', '＝', 'a')).map((parts) => parts.join('')),
  );

  it('is reversible, and leaves no cell that starts a formula', () => {
    fc.assert(
      fc.property(text, (value) => {
        expect(unescapeFormula(escapeFormula(value))).toBe(value);
        expect(escapeFormula(value)).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is not undone for an apostrophe that escapes nothing', () => {
    expect(unescapeFormula("'tis")).toBe("'tis");
    expect(unescapeFormula("'")).toBe("'");
  });
});

describe('csvLines', () => {
  it('finds the same records as the parser, and the lines on which they start', () => {
    const cell = fc
      .array(fc.constantFrom('a', 'b ', '\n', '\r', '\r\n', '"', ',', ' '), { maxLength: 4 })
      .map((parts) => parts.join(''));
    const quoted = cell.map((value) => `"${value.replaceAll('"', '""')}"`);
    const line = fc.oneof(
      fc.constant(''),
      fc
        .array(fc.oneof(quoted, fc.constantFrom('x', '')), { minLength: 2, maxLength: 3 })
        .map((cells) => cells.join(',')),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 6 }), (lines) => {
        const text = lines.map(([content, end]) => content + end).join('');
        const records = parse(text, {
          relax_column_count: true,
          skip_empty_lines: true,
          record_delimiter: ['\r\n', '\n', '\r'],
        });
        const { starts } = csvLines(text);
        expect(starts).toHaveLength(records.length);
        const all = text.split(/\r\n|\n|\r/);
        starts.forEach((start) => expect(all[start - 1]).not.toBe(''));
      }),
      { numRuns: 1_000 },
    );
  });

  it('stops at a line with too many cells', () => {
    expect(csvLines(`a,b\n${','.repeat(1_000)}`)).toEqual({ starts: [1], tooWide: 2 });
  });
});

describe('jsonErrorPosition', () => {
  it('is at the end of the longest prefix of valid JSON', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (text, at) => {
        const cut = at % text.length;
        // A control character is not allowed anywhere in JSON.
        const broken = `${text.slice(0, cut)}\u0001${text.slice(cut)}`;
        const { line, column } = jsonErrorPosition(broken);
        const position = broken
          .split('\n')
          .slice(0, line - 1)
          .reduce((sum, part) => sum + part.length + 1, column - 1);
        expect(position).toBeLessThanOrEqual(cut);
        // Inside a string, a number or a keyword, the position is where it starts.
        expect(broken.slice(position, cut)).toMatch(/^("[^]*|-?[\d.eE+-]*|\w*)$/);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('sequentialIds', () => {
  it('generates unique UUIDs of version 7 in ascending order', () => {
    const ids = sequentialIds(70_000);
    expect(new Set(ids).size).toBe(70_000);
    expect([...ids].sort()).toEqual(ids);
    const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/;
    expect(ids.filter((id) => !pattern.test(id))).toEqual([]);
  });
});

describe('isTooDeep', () => {
  it.each([
    ['50 levels', '['.repeat(50), false],
    ['51 levels', '['.repeat(51), true],
    ['51 levels of objects', '{"a":'.repeat(51), true],
    ['brackets in a text', `["${'['.repeat(100)}", "\\"${'{'.repeat(100)}"]`, false],
    ['lists that are closed', `[${'[],'.repeat(100)}{}]`, false],
  ])('decides for %s', (_name, text, expected) => {
    expect(isTooDeep(text)).toBe(expected);
  });

  it('is checked before a file or a cell is parsed', () => {
    const deep = `${'['.repeat(51)}${']'.repeat(51)}`;
    expect(refusalOf(() => readJson(deep))).toEqual(['body must not be nested deeper than 50 levels']);
    expect(readCsv(`key,name,scenarioText,personalityId,checks\na,b,c,d,${deep}`).evaluations[0]?.violations).toEqual([
      { path: ['checks'], text: 'must not be nested deeper than 50 levels' },
    ]);
  });
});

describe('a name that occurs twice in an object of JSON', () => {
  it.each<[string, string, ReturnType<typeof duplicateName>]>([
    ['an object', '{"a": 1,\n  "b": 2, "a": 3}', { name: 'a', line: 2, column: 11 }],
    ['a nested object', '[{"a": {"x": [], "x": 1}}]', { name: 'x', line: 1, column: 18 }],
    ['another spelling of the name', '{"é": 1, "\\u00e9": 2}', { name: 'é', line: 1, column: 10 }],
    ['a name of every object', '{"__proto__": 1, "__proto__": 2}', { name: '__proto__', line: 1, column: 18 }],
    ['a line break before the colon', '{"a"\n: 1, "a"\r\n\t: 2}', { name: 'a', line: 2, column: 6 }],
  ])('is found in %s', (_what, text, expected) => {
    expect(JSON.parse(text)).toBeDefined();
    expect(duplicateName(text)).toEqual(expected);
  });

  it.each([
    '{"a": {"a": 1}, "b": {"a": 2}}',
    '["a", "a"]',
    '{"a": "a", "b": "{\\"a\\": 1, \\"a\\": 2}"}',
    '{"toString": 1}',
    '7',
  ])('is not found in %s', (text) => {
    expect(JSON.parse(text)).toBeDefined();
    expect(duplicateName(text)).toBeUndefined();
  });

  it('is found in whatever JSON a name is repeated in, and nowhere else', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(duplicateName(text)).toBeUndefined();
        expect(duplicateName(`{"first": ${text}, "first": ${text}}`)).toMatchObject({ name: 'first' });
      }),
    );
  });

  it('is refused in files and in cells', () => {
    expect(refusalOf(() => readJson('[{"key": "a", "checks": [],\n"checks": []}]'))).toEqual([
      'body must be valid JSON: duplicate name "checks" at line 2, column 1',
    ]);
    const cell = '"[{""say"": ""x"", ""say"": ""y""}]"';
    expect(readCsv(`key,name,scenarioText,personalityId,script\na,b,c,d,${cell}`).evaluations[0]?.violations).toEqual([
      { path: ['script'], text: 'must be valid JSON: duplicate name "say"' },
    ]);
  });
});
