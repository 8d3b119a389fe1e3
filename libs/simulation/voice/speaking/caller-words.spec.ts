import { backchannelWord, callerWords, hasCallerWords } from './caller-words.js';

describe('words of a caller beside its lines', () => {
  it('exist in seven languages, in each of their varieties', () => {
    const languages = ['en', 'de-AT', 'es-419', 'FR', 'it', 'nl-BE', 'pt-BR'];
    expect(languages.every(hasCallerWords)).toBe(true);
    expect(['ja', 'den', 'constructor', ''].some(hasCallerWords)).toBe(false);
    expect(callerWords('de-DE')?.fillers).toEqual(['Ähm', 'Mal sehen']);
    expect(callerWords('en-US')?.fillers).toEqual(['Um', 'Let me see']);
  });

  it('include the backchannel that is a word, where its English recording does not serve', () => {
    expect(backchannelWord('yeah', 'de-DE')).toBe('Ja');
    expect(backchannelWord('yeah', 'en-GB')).toBeUndefined();
    expect(['mm-hmm', 'uh-huh', 'cough'].map((name) => backchannelWord(name, 'de'))).toEqual(Array(3).fill(undefined));
  });
});
