import { ConnectionShareTimeout, isDatabaseUnavailable } from './failures.js';

const failure = (message: string, code?: string) => Object.assign(new Error(message), code !== undefined && { code });

describe('isDatabaseUnavailable', () => {
  it.each([
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'ETIMEDOUT',
    'ENOTFOUND',
    '57P01',
    '57P03',
    '53300',
    '57014',
    '08006',
    '55000',
    '42501',
    '58030',
    '53100',
  ])('is true for the code %s', (code) => expect(isDatabaseUnavailable(failure('x', code))).toBe(true));

  it.each([
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'timeout exceeded when trying to connect',
    'timeout expired',
    'Query read timeout',
    'Client has encountered a connection error and is not queryable',
    'Cannot use a pool after calling end on the pool',
    'Query runner already released. Cannot run queries anymore.',
    'Database connection provided by a query runner was already released, cannot continue to use its querying methods anymore.',
  ])('is true for the driver message "%s"', (message) => expect(isDatabaseUnavailable(failure(message))).toBe(true));

  it('is true if a workspace waited too long for its share of the connections', () =>
    expect(isDatabaseUnavailable(new ConnectionShareTimeout())).toBe(true));

  it.each(['23505', '42P01', '22P02', 'ERR_INVALID_ARG_TYPE'])('is false for the code %s', (code) =>
    expect(isDatabaseUnavailable(failure('Connection terminated', code))).toBe(false),
  );

  it.each([failure('anything else'), 'Connection terminated unexpectedly', undefined, null, { code: 'ECONNREFUSED' }])(
    'is false for %p',
    (error) => expect(isDatabaseUnavailable(error)).toBe(false),
  );

  it('recognises the aggregate error of a host with several addresses', () => {
    const refused = new AggregateError([failure('refused', 'ECONNREFUSED'), failure('refused', 'ECONNREFUSED')]);
    expect(isDatabaseUnavailable(Object.assign(refused, { code: 'ECONNREFUSED' }))).toBe(true);
  });
});
