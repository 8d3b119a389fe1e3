import { EXIT, RefusedError, UnreachableError } from './errors.js';

const failure = (code: string) =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(`it failed with ${code}`), { code }) });

describe('errors of the service', () => {
  it.each([
    ['a host name that does not resolve', 'ENOTFOUND', EXIT.misused],
    ['a resolver that does not answer', 'EAI_AGAIN', EXIT.misused],
    ['a self-signed certificate', 'DEPTH_ZERO_SELF_SIGNED_CERT', EXIT.misused],
    ['a certificate of an unknown authority', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', EXIT.misused],
    ['a certificate without its chain', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', EXIT.misused],
    ['a certificate for another host', 'ERR_TLS_CERT_ALTNAME_INVALID', EXIT.misused],
    ['an expired certificate', 'CERT_HAS_EXPIRED', EXIT.misused],
    ['a server that does not speak HTTP', 'HPE_INVALID_CONSTANT', EXIT.misused],
    ['a refused connection', 'ECONNREFUSED', EXIT.noResult],
    ['a connection that times out', 'UND_ERR_CONNECT_TIMEOUT', EXIT.noResult],
  ])('%s (%s) has the exit code %i', (_, code, exitCode) => {
    const error = new UnreachableError('https://vat.example.com', failure(code));
    expect(error).toMatchObject({ exitCode, message: expect.stringContaining(`it failed with ${code}`) });
  });

  it('a server without TLS is named as such, without the text of OpenSSL', () => {
    const openssl = '80FC0141F17F0000:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../deps/openssl';
    const cause = Object.assign(new Error(openssl), { code: 'ERR_SSL_WRONG_VERSION_NUMBER' });
    const error = new UnreachableError('https://vat.example.com', new TypeError('fetch failed', { cause }));
    expect(error).toMatchObject({
      exitCode: EXIT.noResult,
      message:
        'The service at https://vat.example.com cannot be reached: the TLS handshake failed: ERR_SSL_WRONG_VERSION_NUMBER',
      cure: expect.stringContaining('speaks http only'),
    });
  });

  it.each([200, 400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 429, 500, 502, 503])(
    'a response with %i has a cure',
    (status) => {
      expect(new RefusedError(status, 'CODE', 'reason', []).cure).toMatch(/\.$/);
    },
  );

  it('the cure for refused input fits every command', () => {
    expect(new RefusedError(400, 'BAD_REQUEST', 'Invalid input data', []).cure).not.toContain('vat run');
  });

  it('a name that did resolve earlier says nothing about the configuration', () => {
    expect(new UnreachableError('https://vat.example.com', failure('ENOTFOUND'), true).exitCode).toBe(EXIT.noResult);
  });

  it('a 404 names what was asked for; other refusals have the message of the service', () => {
    const missing = 'Agent 7 not found at https://vat.example.com';
    expect(new RefusedError(404, 'NOT_FOUND', 'Not found', [], missing).message).toBe(`${missing} (404 NOT_FOUND)`);
    const forbidden = new RefusedError(403, 'FORBIDDEN', 'Role EDITOR required', [], missing);
    expect(forbidden.message).toBe('The service refused: 403 FORBIDDEN: Role EDITOR required');
  });

  it('the cure for a wrong key needs no checkout', () => {
    const { cure } = new RefusedError(401, 'UNAUTHORIZED', 'Invalid API key', []);
    expect(cure).toContain('POST /workspace/api-keys');
    expect(cure).not.toContain('npm');
  });
});
