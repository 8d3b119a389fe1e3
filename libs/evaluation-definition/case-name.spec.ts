import { caseName } from './case-name.js';

describe('caseName', () => {
  it('is the name of an evaluation without variables', () => {
    expect(caseName('Books a table', null)).toBe('Books a table');
  });

  it('adds the values of the row, shortened', () => {
    expect(caseName('Books', { city: 'Rome', people: 4, vegan: true })).toBe(
      'Books (city: Rome, people: 4, vegan: true)',
    );
    expect(caseName('Books', { note: 'x'.repeat(2_000) }).length).toBeLessThan(60);
  });
});
