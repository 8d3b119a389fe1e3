import { caseName } from './index.js';

const KEY = '0198c5a2-0000-7000-8000-000000000001#6f1ed002ab55';

describe('caseName', () => {
  it('is the name of the evaluation without variables', () => {
    expect(caseName('Books', null, 'id')).toBe('Books');
  });

  it('adds the values in alphabetical order of their names', () => {
    expect(caseName('Books', { people: 4, day: 'Friday\n', vip: true }, KEY)).toBe(
      'Books (day: Friday, people: 4, vip: true)',
    );
  });

  it('shortens long values and adds the hash of the row', () => {
    const long = 'x'.repeat(41);
    expect(caseName('Books', { note: long, people: 4 }, KEY)).toBe(
      `Books (note: ${'x'.repeat(39)}…, people: 4 #6f1ed002ab55)`,
    );
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`name${n}`, 'value']));
    expect(caseName('Books', many, KEY)).toMatch(/^Books \(name0: value, .{80,95}… #6f1ed002ab55\)$/);
  });
});
