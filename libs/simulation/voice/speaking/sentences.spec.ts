import { sentencesOf } from './sentences.js';

describe('sentencesOf', () => {
  it.each<[string, string[]]>([
    ['A table for four, please.', ['A table for four, please.']],
    [
      'Good evening to you. A table, please! At half past seven?',
      ['Good evening to you.', 'A table, please!', 'At half past seven?'],
    ],
    ['Yes. A table for four, please.', ['Yes. A table for four, please.']],
    ['My name is Rossi. Thanks.', ['My name is Rossi. Thanks.']],
    ['It costs 3.50 euros in total', ['It costs 3.50 euros in total']],
    ['Yes.', ['Yes.']],
    ['', []],
  ])('splits %p', (line, sentences) => expect(sentencesOf(line)).toEqual(sentences));

  it('loses no word', () => {
    const line = 'Hi. I am Dr. Rossi, from Via Roma 3. Is there a table? For four. At eight.';
    expect(sentencesOf(line).join(' ')).toBe(line);
  });
});
