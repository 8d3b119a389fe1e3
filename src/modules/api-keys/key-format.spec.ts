import { createHash } from 'node:crypto';
import { generateKey, hashKey, isAcceptableKey, isGeneratedKey, keyPrefix } from './key-format.js';

/** An independent implementation of the checksum. */
function crc32Base62(text: string): string {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  let rest = (crc ^ 0xffffffff) >>> 0;
  let encoded = '';
  for (let i = 0; i < 6; i++) {
    encoded = (digits[rest % 62] ?? '') + encoded;
    rest = Math.floor(rest / 62);
  }
  return encoded;
}

describe('API key format', () => {
  it('is vat_ and 36 base62 characters, the last six of which are the CRC-32 of the others', () => {
    for (let i = 0; i < 200; i++) {
      const key = generateKey();
      expect(key).toMatch(/^vat_[0-9A-Za-z]{36}$/);
      expect(key.slice(-6)).toBe(crc32Base62(key.slice(4, -6)));
      expect(isGeneratedKey(key)).toBe(true);
      expect(isAcceptableKey(key)).toBe(true);
    }
  });

  it('accepts known keys: the checksum must never change', () => {
    expect(isGeneratedKey('vat_0000000000000000000000000000002C8GjS')).toBe(true);
    expect(isGeneratedKey('vat_Abc123Abc123Abc123Abc123Abc1231LcNSa')).toBe(true);
  });

  it('generates unique keys that use the whole alphabet', () => {
    const keys = Array.from({ length: 2000 }, generateKey);
    expect(new Set(keys).size).toBe(2000);
    expect(new Set(keys.flatMap((key) => [...key.slice(4, 34)])).size).toBe(62);
  });

  it('rejects a generated key with one wrong character, truncated or extended', () => {
    const key = generateKey();
    for (let i = 4; i < key.length; i++) {
      const wrong = key.slice(0, i) + (key[i] === 'x' ? 'y' : 'x') + key.slice(i + 1);
      expect(isGeneratedKey(wrong)).toBe(false);
    }
    for (const wrong of ['', 'vat_', key.slice(1), `${key}0`, key.replace('vat_', 'VAT_'), ` ${key}`, `${key}\n`]) {
      expect(isGeneratedKey(wrong)).toBe(false);
    }
  });

  it('hashes keys with SHA-256 as hexadecimal, and shows their first 12 characters', () => {
    const key = generateKey();
    expect(hashKey(key)).toBe(createHash('sha256').update(key).digest('hex'));
    expect(keyPrefix(key)).toBe(key.slice(0, 12));
  });

  it.each([
    ['x'.repeat(16), true],
    ['x'.repeat(255), true],
    ['x'.repeat(15), false],
    ['x'.repeat(256), false],
    ['with a space inside', false],
    ['ümlaut-ümlaut-ümlaut', false],
    ['line\nbreak-line-break', false],
    ['', false],
  ])('isAcceptableKey("%s") is %s for a key chosen by an administrator', (key, acceptable) =>
    expect(isAcceptableKey(key)).toBe(acceptable),
  );
});
