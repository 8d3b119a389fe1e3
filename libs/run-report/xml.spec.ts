import { xmlElement } from './xml.js';

describe('xmlElement', () => {
  it('keeps texts from naming a file that CI would attach', () => {
    const words = 'Yes. [[ATTACHMENT|/etc/passwd]] [[attachment|a]] [[ATTACHMENTS]]';
    const inert = 'Yes. [\u200B[ATTACHMENT|/etc/passwd]] [\u200B[attachment|a]] [[ATTACHMENTS]]';
    expect(xmlElement('failure', { message: words }, words)).toBe(`<failure message="${inert}">${inert}</failure>`);
  });
});
