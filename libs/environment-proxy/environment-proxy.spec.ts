import { environmentProxy } from './index.js';

const PROXY = 'http://proxy.example:3128';
const proxied = (url: string, noProxy: string): boolean =>
  environmentProxy(new URL(url), { HTTP_PROXY: PROXY, HTTPS_PROXY: PROXY, NO_PROXY: noProxy }) !== undefined;

describe('NO_PROXY', () => {
  // Each row: what curl's manual says, or the report in which a program read it otherwise.
  it.each([
    ['a name', 'https://api.example.com', 'api.example.com'],
    ['a domain', 'https://api.example.com', 'example.com'],
    ['a domain with a dot before it', 'https://api.example.com', '.example.com'],
    ['a dot before the very name', 'https://example.com', '.example.com'],
    ['a wildcard of subdomains', 'https://api.example.com', '*.example.com'],
    ['a list with spaces and empty entries', 'https://c.test', ' a.test, b.test ,, c.test '],
    ['a list separated by spaces alone', 'https://c.test', 'a.test b.test c.test'],
    ['other letter cases', 'https://API.Example.com', 'api.EXAMPLE.com'],
    ['everything', 'https://example.com', '*'],
    ['everything, with spaces (nodejs/undici#5777)', 'https://example.com', ' * '],
    ['everything among others (nodejs/undici#5777)', 'https://example.com', 'none.invalid,*'],
    ['everything at a port', 'http://example.com', '*:80'],
    ['a port', 'https://example.com:8443', 'example.com:8443'],
    ['the default port of the scheme', 'https://example.com', 'example.com:443'],
    ['any port, of a name without one (unjs/node-fetch-native#125)', 'http://10.10.10.10:8001', '10.10.10.10'],
    ['a complete name (nodejs/undici#5637)', 'https://example.com./', 'example.com'],
    ['an entry that is a complete name (nodejs/undici#5637)', 'https://example.com', 'example.com.'],
    ['a network (wecode-ai/Wegent#3556)', 'http://10.1.2.3', '10.0.0.0/8'],
    ['a network of IPv6', 'http://[2001:db8::7]', '2001:db8::/32'],
    ['an address of IPv6 (nodejs/undici#5616, curl/curl#2353)', 'http://[2001:db8::1]', '2001:db8::1'],
    ['an address of IPv6 in brackets (safedep/pmg#340)', 'http://[2001:db8::1]', '[2001:db8::1]'],
    ['an address of IPv6 with a port', 'http://[2001:db8::1]:8080', '[2001:db8::1]:8080'],
    ['another spelling of an address of IPv6', 'http://[2001:db8::1]', '2001:0db8:0:0:0:0:0:1'],
  ])('exempts %s', (_name, url, noProxy) => {
    expect(proxied(url, noProxy)).toBe(false);
  });

  it.each([
    ['a name that ends alike', 'https://notexample.com', 'example.com'],
    ['a name that begins alike', 'https://example.com.evil.test', 'example.com'],
    ['the domain of a wildcard itself (nodejs/undici#5777)', 'https://example.com', '*.example.com'],
    ['part of a name (nodejs/undici#4676)', 'https://myexample', '*example'],
    ['another port', 'https://example.com', 'example.com:8443'],
    ['an address outside of the network', 'http://11.1.2.3', '10.0.0.0/8'],
    ['a network without sense', 'http://10.1.2.3', '10.0.0.0/99 10.0.0.0/x /8'],
    ['a name for an entry that is a network', 'https://example.com', '0.0.0.0/0'],
    ['anything, if it is empty', 'https://example.com', ' , '],
  ])('does not exempt %s', (_name, url, noProxy) => {
    expect(proxied(url, noProxy)).toBe(true);
  });
});

describe('environmentProxy', () => {
  const of = (url: string, env: NodeJS.ProcessEnv) => environmentProxy(new URL(url), env);

  it('takes the variable of the scheme in either letter case, and lower case first', () => {
    expect(of('http://a.test', { HTTP_PROXY: 'http://p:1', HTTPS_PROXY: 'http://q:2' })?.url).toBe('http://p:1');
    expect(of('https://a.test', { http_proxy: 'http://p:1', https_proxy: 'http://q:2' })?.url).toBe('http://q:2');
    expect(of('http://a.test', { HTTP_PROXY: 'http://p:1', http_proxy: 'http://q:2' })?.variable).toBe('http_proxy');
    expect(of('https://a.test', { HTTP_PROXY: 'http://p:1' })).toBeUndefined();
    expect(of('http://a.test', { HTTP_PROXY: 'http://p:1', no_proxy: 'a.test', NO_PROXY: 'b.test' })).toBeUndefined();
  });

  it('ignores an empty variable, also where the other letter case is set', () => {
    expect(of('http://a.test', { http_proxy: '', HTTP_PROXY: 'http://p:1' })?.url).toBe('http://p:1');
    expect(of('http://a.test', { HTTP_PROXY: '  ' })).toBeUndefined();
  });

  // nodejs/undici#4736, prisma/orm#20302, esengine/DeepSeek-Reasonix#1050: it ended the program with a stack.
  it.each(['proxy.test:3128', '127.0.0.1:7890', 'http://proxy.test:3128/', ' http://proxy.test:3128 '])(
    'takes an address with or without a scheme: %j',
    (value) => {
      expect(of('https://a.test', { HTTPS_PROXY: value })?.url).toMatch(/^http:\/\/(proxy\.test|127\.0\.0\.1):\d+$/);
    },
  );

  it('decodes user name and password, and keeps them out of the address', () => {
    const proxy = of('https://a.test', { HTTPS_PROXY: 'https://us%40er:p%23%25@proxy.test' });
    expect(proxy).toEqual({
      url: 'https://proxy.test',
      variable: 'HTTPS_PROXY',
      token: `Basic ${Buffer.from('us@er:p#%').toString('base64')}`,
    });
    expect(of('https://a.test', { HTTPS_PROXY: 'http://user@proxy.test' })?.token).toBe('Basic dXNlcjo=');
  });

  // apify/got-scraping#55, delvedor/hpagent#120, oven-sh/bun#42947.
  it.each([
    'http://user:s%6qcret@p.test',
    'http://user:s3c#ret@p.test',
    'http://user:s3c/ret@p.test',
    // A port, and what looks like a path.
    'http://s3c:12/ret@p.test',
    'http://s3c:12#ret@p.test',
    'socks5://s3c:ret@p:1',
  ])('refuses what is not the address of a proxy without repeating it: %s', (value) => {
    const refused = () => of('https://a.test', { HTTPS_PROXY: value });
    expect(refused).toThrow(/HTTPS_PROXY .*%23/);
    expect(refused).not.toThrow(/s3c|s%6q|ret@/);
  });

  // lukevella/rallly#2901, actions/toolkit#1361, THU-MAIC/OpenMAIC#718: the proxy's loopback is another machine.
  it.each([
    'http://localhost:3000',
    'http://sub.localhost',
    'http://127.0.0.1',
    'http://127.8.8.8:1',
    'http://[::1]:3000',
  ])('sends nothing for this machine to a proxy: %s', (url) => expect(of(url, { HTTP_PROXY: PROXY })).toBeUndefined());
});
