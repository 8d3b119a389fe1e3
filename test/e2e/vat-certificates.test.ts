import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { startVat } from '../support/vat.js';

/** Certificates of one key, which is only used here. */
const certificate = (name: string): string => path.resolve(__dirname, `../support/certificates/${name}.pem`);

describe('the vat command and the certificate of the service', () => {
  it.each([
    ['self-signed', {}, 'self-signed certificate', 'NODE_EXTRA_CA_CERTS'],
    ['other-host', { NODE_EXTRA_CA_CERTS: certificate('other-host') }, 'altnames', 'a host name that the certificate'],
    ['expired', { NODE_EXTRA_CA_CERTS: certificate('expired') }, 'expired', 'Renew the certificate'],
  ])('exits with 3 and a cure, without retries: %s', async (name, env, message, cure) => {
    const [key, cert] = await Promise.all([readFile(certificate('key')), readFile(certificate(name))]);
    const server = createServer({ key, cert });
    let connections = 0;
    server.on('connection', () => connections++);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `https://localhost:${(server.address() as AddressInfo).port}`;
    const { code, stderr } = await startVat(['status', 'x'], { VAT_URL: url, VAT_API_KEY: 'vat_key', ...env }).ended;
    await new Promise((resolve) => server.close(resolve));
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining(message) });
    expect(stderr).toContain(cure);
    expect(connections).toBe(1);
  });
});
