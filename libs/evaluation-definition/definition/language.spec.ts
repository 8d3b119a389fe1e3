import { callLanguage, languageName } from './language.js';

describe('callLanguage', () => {
  it.each<[string | null, string | null, string]>([
    ['de-at', 'fr-FR', 'de-AT'],
    [null, 'fr-fr', 'fr-FR'],
    [null, 'English', 'en-US'],
    [null, '', 'en-US'],
    [null, null, 'en-US'],
  ])("is for %p and the agent's %p %s", (own, ofAgent, expected) => {
    expect(callLanguage(own, ofAgent)).toBe(expected);
  });
});

describe('languageName', () => {
  it.each([
    ['de-DE', 'German (Germany), de-DE'],
    ['en-US', 'English (United States), en-US'],
    ['xen', 'xen'],
  ])('of %s is %s', (tag, expected) => {
    expect(languageName(tag)).toBe(expected);
  });
});
