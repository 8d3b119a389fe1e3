import { MAX_SUGGESTIONS, nearestName, unknownField, unknownFields } from './index.js';

const KNOWN = ['id', 'name', 'pattern', 'firstSpeaker', 'maxDurationSeconds'];

describe('nearestName', () => {
  it.each([
    ['pattren', 'pattern'],
    ['nam', 'name'],
    ['Name', 'name'],
    ['first_speaker', 'firstSpeaker'],
    ['maxDurationSecond', 'maxDurationSeconds'],
  ])('takes %s for %s', (name, nearest) => expect(nearestName(name, KNOWN)).toBe(nearest));

  it.each(['', 'i', 'colour', 'patron', 'x'.repeat(101)])('takes %j for none', (name) =>
    expect(nearestName(name, KNOWN)).toBeUndefined(),
  );

  it('takes nothing for a name where none is known', () => expect(nearestName('pattren', [])).toBeUndefined());
});

describe('unknownFields', () => {
  it('name the field that is probably meant', () => {
    expect(unknownFields(['pattren', 'colour'], KNOWN)).toEqual([
      { path: ['pattren'], text: 'is not a known field; did you mean pattern?' },
      { path: ['colour'], text: 'is not a known field' },
    ]);
    expect(unknownField('pattren')).toBe('is not a known field');
  });

  it('suggest nothing for more fields than a person mistypes', () => {
    const names = Array.from({ length: MAX_SUGGESTIONS + 1 }, () => 'pattren');
    expect(new Set(unknownFields(names, KNOWN).map(({ text }) => text))).toEqual(new Set(['is not a known field']));
  });
});
