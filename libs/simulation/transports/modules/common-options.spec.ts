import { variables } from './common-options.js';

describe('the option variables', () => {
  it.each<[string, unknown]>([
    ['a list', ['Rossi']],
    ['an object as a value', { name: { first: 'Ada' } }],
    ['an object as a value of an odd name', JSON.parse('{"__proto__":{"a":1}}')],
    ['a number that JSON cannot have', JSON.parse('{"people":1e999}')],
    ['null', { name: null }],
  ])('refuses %s', (_what, value) => {
    expect(variables.violation(value)).toMatch(/^must /);
  });

  it('takes strings, numbers and booleans under any name', () => {
    const value: unknown = JSON.parse('{"name":"Rossi","people":4,"isNew":true,"constructor":"x","__proto__":"y"}');
    expect(variables.violation(value)).toBeUndefined();
  });
});
