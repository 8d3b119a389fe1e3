import { createHash } from 'node:crypto';
import { caseKey } from './case-key.js';

const ID = '0198c5a2-0000-7000-8000-000000000001';

describe('caseKey', () => {
  it('is the id of an evaluation without variables', () => {
    expect(caseKey(ID, null)).toBe(ID);
  });

  it('adds the beginning of the hash of the row, whatever the order of its names', () => {
    const hash = createHash('sha256').update('{"city":"Rome","people":4}').digest('hex').slice(0, 12);
    expect(caseKey(ID, { people: 4, city: 'Rome' })).toBe(`${ID}#${hash}`);
    expect(caseKey(ID, { city: 'Rome', people: 4 })).toBe(`${ID}#${hash}`);
  });

  it('distinguishes values of different types', () => {
    expect(caseKey(ID, { people: '4' })).not.toBe(caseKey(ID, { people: 4 }));
  });
});
