import { EXCHANGE_LIMITS } from './call-exchange.js';
import { OtherSide } from './other-side.js';

describe('what the other side said', () => {
  const secret = 'sk-live-0123456789abcdef';
  const agent = new OtherSide('https://agent.test', [secret]);

  it('is shown without the secrets that it was sent', () => {
    const detail = agent.describe({ what: `key ${secret} is wrong`, said: `{"error":"${secret}"}`, status: 401 });
    expect(detail).toEqual({
      what: 'key [redacted] is wrong',
      said: '{"error":"[redacted]"}',
      status: 401,
      address: 'https://agent.test',
    });
  });

  it('shows no part of a secret at its end', () => {
    for (let length = 1; length < secret.length; length++) {
      const said = `${'x'.repeat(EXCHANGE_LIMITS.excerpt - length)} ${secret}`;
      expect(agent.excerpt(said)).not.toContain('sk-');
      expect(agent.excerpt(said).length).toBeLessThanOrEqual(EXCHANGE_LIMITS.excerpt);
    }
  });
});
