import { canBeSaidIn, slowestSpeechMs, spokenWords } from './index.js';

describe('canBeSaidIn', () => {
  it.each([
    ['news read fast', 'The prime minister said on Monday that the talks had failed.', 2_600],
    ['a short word', 'Yes.', 120],
    ['two short words', 'Oh, hi!', 220],
    ['German', 'Die Donaudampfschifffahrtsgesellschaft öffnet morgen.', 2_400],
    ['signs that are not spoken', '**- | --- | --- |** ok', 200],
    ['Hindi, whose vowel signs are not letters', 'नमस्ते, मैं आपकी क्या मदद कर सकती हूँ?', 1_500],
    ['Japanese, without spaces', 'ご予約を承りました。', 1_000],
  ])('is true of %s', (_case, text, ms) => {
    expect(canBeSaidIn(text, ms)).toBe(true);
  });

  it.each([
    ['a text for a beep', 'Your booking is confirmed for Tuesday at seven.', 300],
    ['nine words in a second', 'a b c d e f g h i', 1_000],
    ['31 letters in a second', 'a'.repeat(31), 1_000],
    ['a word for a click', 'confirmed', 60],
    ['any word for nothing', 'a', 0],
  ])('is false of %s', (_case, text, ms) => {
    expect(canBeSaidIn(text, ms)).toBe(false);
  });
});

describe('spokenWords', () => {
  it('are in lower case, without punctuation, and complete in scripts with vowel signs', () => {
    expect(spokenWords("It's 7 – हिन्दी!")).toEqual(["it's", '7', 'हिन्दी']);
  });
});

describe('slowestSpeechMs', () => {
  it.each([
    ['We close', 7 * 150],
    ['at 22.', 2 * 150 + 2 * 600],
    ['七時です', 4 * 400],
    ['…', 0],
  ])('is long enough for a slow speaker: %s', (text, ms) => {
    expect(slowestSpeechMs(text)).toBe(ms);
  });
});
