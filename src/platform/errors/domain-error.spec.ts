import {
  about,
  conflict,
  DEFAULT_MESSAGES,
  DomainError,
  ERROR_CODES,
  forbidden,
  invalidInput,
  notFound,
  unavailable,
} from './domain-error.js';

describe('domain errors', () => {
  it('have the messages of the contract by default', () => {
    expect(DEFAULT_MESSAGES).toMatchObject({
      BAD_REQUEST: 'Invalid input data',
      UNAUTHORIZED: 'Authorization not provided',
      FORBIDDEN: 'Insufficient access',
      NOT_FOUND: 'Not found',
      INTERNAL_SERVER_ERROR: 'Internal server error',
      TOO_MANY_REQUESTS: 'Rate limit exceeded',
    });
  });

  it('have unique codes, each with a default message', () => {
    expect(new Set(ERROR_CODES).size).toBe(ERROR_CODES.length);
    expect(Object.keys(DEFAULT_MESSAGES).sort()).toEqual([...ERROR_CODES].sort());
  });

  it.each([
    [
      invalidInput('a must be b', 'c'),
      'BAD_REQUEST',
      'Invalid input data',
      [{ message: 'a must be b' }, { message: 'c' }],
    ],
    [forbidden(), 'FORBIDDEN', 'Insufficient access', undefined],
    [forbidden('workspaceId'), 'FORBIDDEN', 'Insufficient access', [{ message: 'workspaceId' }]],
    [notFound(about('with', 'is unknown')), 'NOT_FOUND', 'Not found', [{ message: 'with is unknown', field: 'with' }]],
    [notFound(), 'NOT_FOUND', 'Not found', undefined],
    [conflict('In use'), 'CONFLICT', 'In use', undefined],
    [unavailable(), 'SERVICE_UNAVAILABLE', 'Service is temporarily unavailable', undefined],
  ])('%s has its code, message and issues', (error, code, message, issues) => {
    expect(error).toBeInstanceOf(DomainError);
    expect([error.code, error.message, error.issues]).toEqual([code, message, issues]);
  });

  it('keep their cause', () => {
    const cause = new Error('connection refused');
    expect(unavailable(cause).cause).toBe(cause);
  });
});
