import { randomBytes } from 'node:crypto';
import { DecryptionError, KeyRing } from './key-ring.js';

const key = (id: string) => ({ id, key: randomBytes(32) });
const k1 = key('k1');
const k2 = key('k2');
const ring = new KeyRing([k1]);

describe('KeyRing', () => {
  it.each(['', 'x', 'provider-key-1', 'ünïcode 🍝 \u0001', 'x'.repeat(100_000)])(
    'decrypts what it has encrypted: %.20j',
    (clear) => {
      expect(ring.decrypt(ring.encrypt(clear, 'p'), 'p')).toBe(clear);
    },
  );

  it('encrypts the same text differently each time, and exposes nothing of it', () => {
    const ciphertext = Array.from({ length: 100 }, () => ring.encrypt('provider-key-1', 'p'));
    expect(new Set(ciphertext).size).toBe(100);
    for (const each of ciphertext) expect(each).toMatch(/^k1\.[\w-]+$/);
    expect(Buffer.from(ciphertext[0]?.slice(3) ?? '', 'base64url').toString('latin1')).not.toContain('provider');
  });

  it('decrypts with an older key, and encrypts with the first', () => {
    const old = ring.encrypt('secret', 'p');
    const rotated = new KeyRing([k2, k1]);
    expect(rotated.decrypt(old, 'p')).toBe('secret');
    expect(rotated.ids).toEqual(['k2', 'k1']);
    const fresh = rotated.encrypt('secret', 'p');
    expect(fresh.startsWith('k2.')).toBe(true);
    expect(new KeyRing([k2]).decrypt(fresh, 'p')).toBe('secret');
    expect(() => ring.decrypt(fresh, 'p')).toThrow(DecryptionError);
  });

  it('does not decrypt a ciphertext for another purpose', () => {
    const ciphertext = ring.encrypt('secret', 'agent.apiKey:1');
    for (const purpose of ['agent.apiKey:2', 'agent.webhookSecret:1', '', 'agent.apiKey:1 ']) {
      expect(() => ring.decrypt(ciphertext, purpose)).toThrow(DecryptionError);
    }
  });

  it('does not decrypt a ciphertext that was changed in any byte or truncated', () => {
    const ciphertext = Buffer.from(ring.encrypt('secret', 'p').slice(3), 'base64url');
    for (let i = 0; i < ciphertext.length; i++) {
      const changed = Buffer.from(ciphertext);
      changed[i] = (changed[i] ?? 0) ^ 1;
      expect(() => ring.decrypt(`k1.${changed.toString('base64url')}`, 'p')).toThrow(DecryptionError);
    }
    for (const cut of [
      ciphertext.subarray(0, -1),
      ciphertext.subarray(1),
      ciphertext.subarray(0, 27),
      Buffer.alloc(0),
    ]) {
      expect(() => ring.decrypt(`k1.${cut.toString('base64url')}`, 'p')).toThrow(DecryptionError);
    }
  });

  it('does not decrypt with another key of the same id', () => {
    expect(() => new KeyRing([key('k1')]).decrypt(ring.encrypt('secret', 'p'), 'p')).toThrow(DecryptionError);
  });

  it('names the missing key, or the purpose of a ciphertext that cannot be decrypted', () => {
    const ciphertext = ring.encrypt('secret', 'agent.apiKey:1');
    expect(() => new KeyRing([k2]).decrypt(ciphertext, 'p')).toThrow(
      'No encryption key with the id "k1" is configured',
    );
    expect(() => ring.decrypt(ciphertext, 'p')).toThrow('The key "k1" does not decrypt a stored secret (p)');
  });

  it.each(['', '.', 'k1', 'k1.', 'sk_live_in_clear', 'sk_live.in_clear', 'eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSM'])(
    'does not expose a value that is not encrypted: %j',
    (stored) => {
      const open = () => ring.decrypt(stored, 'p');
      expect(open).toThrow(DecryptionError);
      expect(open).toThrow('A stored secret is not in its encrypted form (p)');
    },
  );

  it('requires at least one key', () => expect(() => new KeyRing([])).toThrow('needs at least one key'));
});
