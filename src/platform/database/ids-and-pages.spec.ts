import { connectionOptions, withoutTimeouts } from './data-source-options.js';
import { uuidOrNotFound } from './ids.js';
import { window } from './page.js';

describe('uuidOrNotFound', () => {
  it.each([
    '0a6f1c5e-7d4a-4c1b-8f3e-2a6d5b4c3f10',
    '0A6F1C5E-7D4A-4C1B-8F3E-2A6D5B4C3F10',
    '00000000-0000-0000-0000-000000000000',
  ])('accepts the UUID %s', (id) => expect(uuidOrNotFound(id)).toBe(id));

  // PostgreSQL accepts braces and missing hyphens too.
  it.each([
    '',
    'x',
    '{0a6f1c5e-7d4a-4c1b-8f3e-2a6d5b4c3f10}',
    '0a6f1c5e7d4a4c1b8f3e2a6d5b4c3f10',
    '0a6f1c5e-7d4a-4c1b-8f3e-2a6d5b4c3f1',
    '0a6f1c5e-7d4a-4c1b-8f3e-2a6d5b4c3f100',
    '0a6f1c5e-7d4a-4c1b-8f3e-2a6d5b4c3f10\n',
    ' 0a6f1c5e-7d4a-4c1b-8f3e-2a6d5b4c3f10',
    '0a6f1c5e-7d4a-4c1b-8f3e-2a6d5b4c3fg0',
  ])('rejects %j as not found', (id) => {
    expect(() => uuidOrNotFound(id)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  });
});

describe('window', () => {
  it.each([
    [{}, { page: 1, limit: 25, offset: 0 }],
    [{ page: 3 }, { page: 3, limit: 25, offset: 50 }],
    [{ limit: 100 }, { page: 1, limit: 100, offset: 0 }],
    [
      { page: 7, limit: 3 },
      { page: 7, limit: 3, offset: 18 },
    ],
  ])('returns for %j the window %j', (request, expected) => expect(window(request)).toEqual(expected));
});

describe('connectionOptions', () => {
  const { extra } = connectionOptions('postgresql://x/y', 7) as { extra: Record<string, number> };

  it('makes the server cancel a statement before the client gives up', () => {
    expect(extra['statement_timeout']).toBeGreaterThan(0);
    expect(extra['query_timeout']).toBeGreaterThan(extra['statement_timeout'] ?? 0);
  });

  it('has no time limits for migrations except when connecting', () => {
    const unhurried = withoutTimeouts(connectionOptions('postgresql://x/y', 7)) as { extra: Record<string, number> };
    expect(unhurried).toMatchObject({
      url: 'postgresql://x/y',
      extra: { statement_timeout: 0, query_timeout: 0, idle_in_transaction_session_timeout: 0 },
    });
    expect(unhurried.extra['connectionTimeoutMillis']).toBe(extra['connectionTimeoutMillis']);
  });
});
