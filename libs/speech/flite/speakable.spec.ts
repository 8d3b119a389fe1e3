import { speakableWords } from './speakable.js';

const spoken = (text: string) => speakableWords(text).map((word) => word.spoken);

describe('speakableWords', () => {
  it('keeps the words of the text beside what is spoken for them', () => {
    expect(speakableWords('Zwei Cafés, s’il vous plaît!')).toEqual([
      { text: 'Zwei', spoken: 'Zwei' },
      { text: 'Cafés,', spoken: 'Cafes,' },
      { text: 's’il', spoken: "s'il" },
      { text: 'vous', spoken: 'vous' },
      { text: 'plaît!', spoken: 'plait!' },
    ]);
  });

  it.each([
    ['€45.50', '45.50 euros'],
    ['£7', '7 pounds'],
    ['12€', '12 euros'],
    ['$5', '$5'],
    ['2–4', '2-4'],
    ['Straße', 'Strasse'],
    ['Ærø', 'aero'],
    ['20°', '20 degrees'],
    ['ﬁne', 'fine'],
    ['日本', ''],
  ])('speaks %s as "%s"', (text, expected) => {
    expect(spoken(text)).toEqual([expected]);
  });

  it('separates words at control characters, and ignores invisible ones', () => {
    expect(spoken('a\0b\u0007\u009fc\r\n\td ze\u200bro')).toEqual(['a', 'b', 'c', 'd', 'zero']);
  });

  it('divides words that are too long for the engine', () => {
    const words = spoken('a'.repeat(4_096));
    expect(words.join('')).toBe('a'.repeat(4_096));
    expect(Math.max(...words.map((word) => word.length))).toBe(50);
  });

  it('returns printable ASCII for every character', () => {
    for (let code = 0; code < 0x3000; code++) {
      for (const word of spoken(`x${String.fromCodePoint(code)}y`)) expect(word).toMatch(/^[ -~]*$/);
    }
  });
});
