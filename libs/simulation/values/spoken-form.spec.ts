import { spokenDifferences } from './spoken-form.js';

describe('what is the same when it is spoken', () => {
  it.each([
    ['At 7:30 pm, gladly.', 'at seven thirty p m gladly'],
    ['At 19:30.', 'At half past seven'],
    ['It costs €45.', 'It costs forty-five euros'],
    ['Your number is 555 0142.', 'your number is five five five zero one four two'],
    ['A table for 4.', 'a table for four'],
    ['Your reference is QX7.', 'your reference is Q X 7'],
  ])('%s / %s', (first, second) => {
    expect(spokenDifferences(first, second)).toEqual([]);
  });

  it('is not another time, price or word', () => {
    expect(spokenDifferences('A table at 19:30 is free.', 'A table at 19:13 is free.')).toEqual([
      { first: '19:30', second: '19:13' },
    ]);
    expect(spokenDifferences('It is 45 euros', 'it is fifty four euros')).toEqual([
      { first: '45', second: 'fifty four' },
    ]);
    expect(spokenDifferences('We are closed', 'We are open')).toEqual([{ first: 'closed', second: 'open' }]);
  });
});
