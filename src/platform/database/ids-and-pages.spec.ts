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
