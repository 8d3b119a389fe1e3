import { OutboundClient } from './index.js';
import { AddressFilter } from './address-filter.js';

const publicOnly = new AddressFilter([]);

describe('address filter', () => {
  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '93.184.215.14',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '2606:4700:4700::1111',
    '2a00:1450:4001:830::200e',
    '::ffff:8.8.8.8',
  ])('allows the public address %s', (address) => {
    expect(publicOnly.allows(address)).toBe(true);
  });

  it.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '100.64.0.1',
    '100.127.255.254',
    '127.0.0.1',
    '127.255.255.255',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.7',
    '203.0.113.7',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:169.254.169.254',
    '::ffff:0:10.0.0.1',
    '::10.0.0.1',
    '64:ff9b::a00:1',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:2::1',
    '2001:10::1',
    '2001:20::1',
    '2001:db8::1',
    '2002:a00:1::1',
    '2002:808:808::1',
    '3fff::1',
    '4000::1',
    '5f00::1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '',
    'localhost',
    '1.2.3.4.5',
  ])('rejects %s', (address) => {
    expect(publicOnly.allows(address)).toBe(false);
  });

  it('allows only the configured private networks', () => {
    const filter = new AddressFilter(['10.1.0.0/16', 'fd00::/8']);
    expect(filter.allows('10.1.2.3')).toBe(true);
    expect(filter.allows('::ffff:10.1.2.3')).toBe(true);
    expect(filter.allows('fd00::1')).toBe(true);
    expect(filter.allows('10.2.0.1')).toBe(false);
    expect(filter.allows('fc00::1')).toBe(false);
    expect(filter.allows('8.8.8.8')).toBe(true);
  });
});

describe('OutboundClient.check', () => {
  it('refuses literal private addresses unless their network is allowed, and no host names', () => {
    expect(new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] }).check('http://127.0.0.1/')).toBeUndefined();
    expect(new OutboundClient().check('http://10.0.0.1/')).toBe('ADDRESS_REFUSED');
    expect(new OutboundClient().check('https://example.com/')).toBeUndefined();
  });
});
