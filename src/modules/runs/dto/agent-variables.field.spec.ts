import { agentVariablesViolation } from './agent-variables.field.js';

describe('agentVariablesViolation', () => {
  it.each([
    ['a list', [], 'must be an object'],
    ['null', null, 'must be an object'],
    ['a value that is null', { name: null }, 'must be a string, a number or a boolean'],
    ['a value that is an object', { name: { first: 'Rossi' } }, 'must be a string, a number or a boolean'],
    ['a long value', { name: 'x'.repeat(2_001) }, 'must have at most 2000 characters'],
    ['U+0000 in a value', { name: 'a\0b' }, 'name'],
    ['an empty name', { '': 'x' }, 'must have a name of 1 to'],
    ['many', Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`v${n}`, n])), 'must have at most 50 entries'],
  ])('refuses %s', (_, value, issue) => expect(agentVariablesViolation(value)).toContain(issue));

  it('takes strings, numbers and booleans', () => {
    expect(agentVariablesViolation({})).toBeUndefined();
    expect(agentVariablesViolation({ name: 'Rossi', people: 4.5, isRegular: false, note: '' })).toBeUndefined();
  });
});
