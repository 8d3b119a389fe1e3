import fc from 'fast-check';
import { routableTarget } from './request-line.js';

describe('routableTarget', () => {
  it.each([
    ['/agents?x=%', '/agents?x=%'],
    ['/agents/%41', '/agents/%41'],
    ['/agents/%', '/agents/%25'],
    ['/agents/%C0%AF?a=%', '/agents/%25C0%25AF?a=%'],
    ['/agents#x?a=#', '/agents%23x?a=#'],
    ['http://host/agents?limit=1', '/agents?limit=1'],
    ['http://host', '/'],
    ['http://host?x=1', '/?x=1'],
    ['ftp://[::bad/x', '/x'],
    ['*', '/*'],
    ['', '/'],
    ['mailto:x', '/mailto:x'],
  ])('turns %j into %j', (target, routable) => {
    expect(routableTarget(target)).toBe(routable);
  });

  it('always returns a path whose segments can be decoded, and does not change such a path', () => {
    const target = fc.array(fc.constantFrom('%', '%4', '%41', '%c3', '%a9', '/', 'x', '?', ':', '//', 'a', '#'), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(target, (parts) => {
        const routable = routableTarget(parts.join(''));
        const [path = ''] = routable.split('?', 1);
        expect(path.startsWith('/')).toBe(true);
        expect(() => path.split('/').map(decodeURIComponent)).not.toThrow();
        expect(routableTarget(routable)).toBe(routable);
      }),
    );
  });
});
