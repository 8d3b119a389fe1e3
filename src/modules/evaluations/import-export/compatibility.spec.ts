import { readFileSync } from 'node:fs';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { parse as parseWithWitness } from 'yaml';
import { shareOf } from '../../../../libs/statistics/testing/sample.js';
import { readCsv } from './csv-file.js';
import { decodeFile } from './file.js';
import type { FileContents } from './file-item.js';
import { readYaml } from './yaml-file.js';
import { refusalOf } from './testing/refusal.js';

const bytesOf = (name: string) => readFileSync(`test/fixtures/compatibility/files/${name}`);
const csvOf = (bytes: Uint8Array) => readCsv(decodeFile('text/csv', bytes));
const valuesOf = ({ evaluations }: FileContents) => evaluations.map(({ value }) => value);
const faultsOf = ({ evaluations, violations }: FileContents) =>
  [...violations, ...evaluations.flatMap((item) => item.violations)].map(({ text }) => text);

const SUNDAY = {
  key: 'sunday',
  name: 'Asks for Sunday',
  scenarioText: expect.stringMatching(/^You want a table[;,\t] on Sunday\.$/),
  personality: 'Caller',
  tags: ['hours'],
  checks: [{ type: 'says', text: 'closed' }],
  critical: true,
};

describe('suites that spreadsheets write', () => {
  it.each([
    ['remcostoeten/dora#232, formbricks/formbricks#8172: Excel in Europe', 'semicolon.csv'],
    ['frappe/frappe#26183', 'excel-de-utf8.csv'],
    ['BjoernSchilberg: Google Sheets', 'sheets.csv'],
    ['asafdav/ng-csv#28', 'sep-semicolon.csv'],
    ['asafdav/ng-csv#28: with a byte order mark', 'bom-sep.csv'],
    ['own: sep= in quotes', 'sep-quoted.csv'],
    ['Excel "Unicode Text": UTF-16 and tabs', 'excel-unicode-text.txt'],
    ['Excel "CSV (Macintosh)": lone CR', 'excel-mac-cr.csv'],
    ['OpenDataRepository/data-publisher#84, jakob/Postico#550: empty columns and rows', 'empty-rows-cols.csv'],
  ])('(%s) read %s', (_source, name) => {
    const contents = csvOf(bytesOf(name));
    expect([valuesOf(contents), faultsOf(contents)]).toEqual([[SUNDAY], []]);
  });

  it.each([
    ['own: vertical bars', 'pipe.csv', { name: 'A' }],
    ['OpenRefine/OpenRefine#6527: header in quotes', 'quoted-header-semicolon.csv', { name: 'A, B' }],
    ['jakob/Postico#550, firefly-iii#691: rows of empty cells', 'blank-rows.csv', { key: 'sunday' }],
  ])('(%s) read %s', (_source, name, value) => {
    const contents = csvOf(bytesOf(name));
    expect([valuesOf(contents), faultsOf(contents)]).toEqual([[expect.objectContaining(value)], []]);
  });

  it.each([
    ['ragged-short.csv', ['has 4 cells, but the header row has 7']],
    ['smart-quotes.csv', ['must be valid JSON: write " instead of typographic quotes']],
    [
      'header-spaces-case.csv',
      [
        'line 1: Key is not a known field; did you mean key?',
        'line 1: Name is not a known field; did you mean name?',
        'line 1: scenariotext is not a known field; did you mean scenarioText?',
        'line 1: Personality is not a known field; did you mean personality?',
        'line 1: key is missing',
        'line 1: name is missing',
        'line 1: scenarioText is missing',
        'line 1: personality is missing',
      ],
    ],
  ])('say what is wrong with %s', (name, faults) => {
    expect(faultsOf(csvOf(bytesOf(name)))).toEqual(faults);
  });

  it('in Windows-1252 are refused with what to do, not read by guess', () => {
    const issue = 'body must be encoded in UTF-8: save the spreadsheet as "CSV UTF-8"';
    expect(refusalOf(() => csvOf(bytesOf('excel-de-ansi.csv')))).toEqual([issue]);
    expect(refusalOf(() => csvOf(new Uint8Array([0xff, 0xfe, 0x00, 0xdc])))).toEqual([issue]);
    expect(refusalOf(() => decodeFile('application/yaml', new Uint8Array([0xe4])))).toEqual([
      'body must be encoded in UTF-8',
    ]);
  });

  it('without any name of a field are refused in one sentence that names the separators', () => {
    expect(refusalOf(() => readCsv('\na:b\n1:2\n'))).toEqual([
      'line 2: none of the columns is a field of an evaluation: the header row names key, name, scenarioText, personality and others, separated by commas, semicolons, tabs or vertical bars',
    ]);
  });

  const head = 'key,name,scenarioText,personality,critical';
  it.each([
    ['qor/exchange#4', 'WAHR', true],
    ['mrodrig/json-2-csv#188', 'Faux', false],
    ['Spanish', 'VERDADERO', true],
    ['Italian', 'falso', false],
    ['Dutch', 'ONWAAR', false],
    ['Polish', 'FAŁSZ', false],
  ])('(%s) %s is a boolean', (_source, word, critical) => {
    expect(valuesOf(readCsv(`${head}\na,b,c,d,${word}`))).toEqual([expect.objectContaining({ critical })]);
  });

  it.each(['1', 'yes', 'x', 'ja'])('%s is not a boolean (android-mileage#56)', (word) => {
    expect(faultsOf(readCsv(`${head}\na,b,c,d,${word}`))).toEqual(['must be true or false']);
  });

  it('keep their lines and limits with rows of empty cells (Azure/AzureStorageExplorer#3136)', () => {
    const blank = ',,,,\n , ,\t,,\n""," ",,,\n'.repeat(3_000);
    const { evaluations, lineOf, violations } = readCsv(`sep=,\n${head}\n${blank}a,b,c,d,\n${blank}`);
    expect([evaluations.length, violations, lineOf([0])]).toEqual([1, [], 9_003]);
    expect(refusalOf(() => readCsv(`${head}\n${'a,b,c,d,\n'.repeat(5_001)}`))).toEqual([
      'body must hold at most 5000 evaluations',
    ]);
    expect(refusalOf(() => readCsv(`sep=,\n${head}\n,,,,\na,"b"c,d,e,\n`))).toEqual([
      expect.stringMatching(/^line 4: body must be valid CSV: /),
    ]);
  });

  it('have one fault for a value in a column without a name', () => {
    expect(faultsOf(readCsv(`${head},,\na,b,c,d,,,x\n`))).toEqual([
      'has a value in column 7, which has no name in the header row',
    ]);
    expect(faultsOf(readCsv(`;;;\n${head.replaceAll(',', ';')}\na;b;c;d;;;\n`))).toEqual([]);
    expect(faultsOf(readCsv(`${head}\na,b,c,d,,x\n`))).toEqual(['has 6 cells, but the header row has 5']);
  });

  it('are the same in each dialect', () => {
    const text = fc
      .array(fc.constantFrom('a', ' ', ',', ';', '\t', '|', '"', '\n', 'ü', 'key;name', '='))
      .map((all) => `x${all.join('')}x`);
    const item = fc.record({
      key: fc.stringMatching(/^[a-z]{1,8}$/),
      name: text,
      scenarioText: text,
      personality: text,
      critical: fc.boolean(),
      checks: fc.array(fc.record({ type: fc.constant('says'), text })),
    });
    const dialect = fc.record({
      separator: fc.constantFrom(',', ';', '\t', '|'),
      isDeclared: fc.boolean(),
      isQuoted: fc.boolean(),
      isEscaped: fc.boolean(),
      end: fc.constantFrom('\n', '\r\n', '\r'),
      encoding: fc.constantFrom<BufferEncoding>('utf8', 'utf16le'),
      words: fc.constantFrom(['true', 'FALSE'], ['WAHR', 'FALSCH'], ['VRAI', 'FAUX']),
      columns: fc.shuffledSubarray(['key', 'name', 'scenarioText', 'personality', 'critical', 'checks', ''], {
        minLength: 7,
      }),
      blank: fc.nat({ max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 3 }), dialect, (items, d) => {
        const cellOf = (value: unknown) =>
          typeof value === 'boolean'
            ? d.words[value ? 0 : 1]
            : typeof value === 'string'
              ? value
              : JSON.stringify(value);
        const rows = items.map((each) => d.columns.map((name) => (name === '' ? '' : cellOf(each[name as 'key']))));
        const empty = Array.from({ length: d.blank }, () => d.columns.map(() => ''));
        const table = stringify([d.columns, ...empty, ...rows, ...empty], {
          delimiter: d.separator,
          quoted: d.isQuoted,
          quoted_match: /[\r\n"]/,
          record_delimiter: d.end,
        });
        const file = `${d.isDeclared ? `sep=${d.separator}${d.end}` : ''}${table}`;
        const bytes = Buffer.from(`\ufeff${file}`, d.encoding);
        const contents = csvOf(bytes);
        expect([valuesOf(contents), faultsOf(contents)]).toEqual([items, []]);
      }),
      { numRuns: shareOf(2_000) },
    );
  });
});

describe('merge keys in YAML', () => {
  it('(eemeli/yaml#408, sveltia/sveltia-cms#133, nodeca/js-yaml#646) are merged', () => {
    const contents = readYaml(bytesOf('merge.yaml').toString());
    const base = { personality: 'Caller', scenarioText: 'You want a table.', script: [{ say: 'Hello' }] };
    expect([valuesOf(contents), faultsOf(contents)]).toEqual([
      [
        { key: 'a', name: 'A', ...base },
        { key: 'b', name: 'B', ...base },
      ],
      [],
    ]);
    expect([['key'], ['script', 0]].map((path) => contents.lineOf(['evaluations', 1, ...path]))).toEqual([9, 8]);
  });

  it('take a mapping or a list of mappings, and say so', () => {
    const issue =
      'body must be valid YAML: << takes a mapping, or a list of mappings, found something else at line 1, column 3';
    expect(refusalOf(() => readYaml('- <<: 5\n  key: a\n'))).toEqual([issue]);
    expect(refusalOf(() => readYaml('- <<: [5]\n  key: a\n'))).toEqual([issue]);
  });

  it('of as many evaluations as a file may hold are merged', () => {
    const fields = Array.from({ length: 15 }, (_, n) => `  f${n}: ${n}\n`).join('');
    const items = Array.from({ length: 5_000 }, (_, n) => `- <<: *base\n  key: k${n}\n`).join('');
    expect(
      readYaml(`- &base\n  key: a\n${fields}${items.replace(/- <<: \*base\n  key: k0\n/, '')}`).evaluations,
    ).toHaveLength(5_000);
  });

  it('mean the same as to another reader, whatever the order, lists, repetitions and quotes', () => {
    const field = fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', '__proto__', '"<<"'), fc.nat({ max: 9 }));
    const fields = fc.uniqueArray(field, { minLength: 1, maxLength: 4, selector: ([name]) => name });
    const merge = fc.constantFrom('<<: *x', '<<: *y', '<<: [*x, *y]', '<<: [*y, *x]', '<<: { a: 7, e: 8 }', '<<: *z');
    fc.assert(
      fc.property(
        fields,
        fields,
        fields,
        fc.array(merge, { maxLength: 2 }),
        fc.nat({ max: 4 }),
        (x, y, own, merges, at) => {
          const lines = (all: typeof x) => all.map(([name, value]) => `  ${name}: ${value}\n`).join('');
          const all = own.map(([name, value]) => `${name}: ${value}`);
          all.splice(Math.min(at, all.length), 0, ...merges);
          const text = `- &x\n${lines(x)}- &y\n${lines(y)}- &z\n  <<: *x\n  z: 1\n-\n${all.map((line) => `  ${line}\n`).join('')}`;
          const witness: unknown = parseWithWitness(text, { merge: true, uniqueKeys: false });
          expect(valuesOf(readYaml(text))).toEqual(witness);
        },
      ),
      { numRuns: shareOf(2_000) },
    );
  });
});

describe('faults of YAML that is written by hand', () => {
  it.each([
    ['- key: a\n\tname: b\n', 'body must be valid YAML: a tab in the indentation, use spaces at line 2, column 2'],
    ['- \tkey: a\n  \tname: b\n', 'body must be valid YAML: a tab in the indentation, use spaces at line 1, column 7'],
    ['- scenarioText: You want: a table\n', 'put the text in quotation marks at line 1, column 25'],
    ['- name: *bold* text\n', 'put the text in quotation marks'],
    ['- name: @work\n', 'put the text in quotation marks'],
  ])('%j are refused with what to do', (text, cure) => {
    expect(refusalOf(() => readYaml(text))).toEqual([expect.stringContaining(cure)]);
  });

  it('leave yes, no, 12:30 and 1_000 as texts (YAML 1.2, as in other readers of it)', () => {
    const text = '- { a: yes, b: no, c: 12:30, d: 1_000, e: 012, f: 2026-01-01 }\n';
    expect(valuesOf(readYaml(text))).toEqual(parseWithWitness(text));
  });
});
