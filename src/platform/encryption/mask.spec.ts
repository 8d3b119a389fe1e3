import { isMasked, maskCredential } from './mask.js';

describe('maskCredential', () => {
  it.each([
    ['sk-live-1234567890abcd', '••••abcd'],
    ['123456789012', '••••9012'],
    ['🍝🍝🍝🍝🍝🍝🍝🍝1234', '••••1234'],
    ['12345678901', '••••'],
    ['🍝🍝🍝🍝🍝🍝🍝', '••••'],
    ['x', '••••'],
  ])('masks %j as %j', (clear, masked) => {
    expect(maskCredential(clear)).toBe(masked);
  });

  it('produces values that are recognised as masks', () => {
    for (const clear of ['x', 'sk-live-1234567890abcd']) {
      expect(isMasked(maskCredential(clear))).toBe(true);
      expect(isMasked(` ${maskCredential(clear)}`)).toBe(true);
      expect(isMasked(clear)).toBe(false);
    }
  });
});
