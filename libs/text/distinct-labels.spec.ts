import { distinctLabels } from './index.js';

describe('distinctLabels', () => {
  it('takes the first name that tells all apart', () => {
    expect(
      distinctLabels([
        ['vapi', 'v1'],
        ['retell-text', 'v1'],
      ]),
    ).toEqual(['vapi', 'retell-text']);
    expect(
      distinctLabels([
        ['vapi', 'v1'],
        ['vapi', 'v2'],
      ]),
    ).toEqual(['v1', 'v2']);
  });

  it('adds further names only as far as needed, without those that are missing', () => {
    const things = [
      ['vapi', 'v1', 'A'],
      ['vapi', 'v2', 'A'],
      ['sip', null, 'A'],
    ];
    expect(distinctLabels(things)).toEqual(['vapi, v1', 'vapi, v2', 'sip']);
  });

  it('skips names that do not tell the same platform apart', () => {
    const things = [
      ['chat', null, 'A', 'First'],
      ['chat', null, 'A', 'Again'],
      ['sip', 'v7', 'B', 'Other'],
    ];
    expect(distinctLabels(things)).toEqual(['chat, First', 'chat, Again', 'sip, Other']);
  });

  it('numbers what has the same names', () => {
    expect(
      distinctLabels([
        ['vapi', null],
        ['vapi', null],
      ]),
    ).toEqual(['vapi #1', 'vapi #2']);
    expect(
      distinctLabels([
        ['vapi', 'a'],
        ['vapi', 'a'],
        ['vapi', 'b'],
      ]),
    ).toEqual(['a #1', 'a #2', 'b #3']);
  });

  it('has nothing to label without things, or without names', () => {
    expect(distinctLabels([])).toEqual([]);
    expect(distinctLabels([[null], [null]])).toEqual(['#1', '#2']);
  });
});
