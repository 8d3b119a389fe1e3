import { foreignAddress } from './simulation/transports/http/foreign-address.js';
import { OtherSide } from './simulation/other-side/other-side.js';
import { sentSecrets } from './simulation/other-side/secrets.js';
import { Redaction } from './text/index.js';
import { randomBytes } from 'node:crypto';
function time<T>(name: string, f: () => T): T { const t = performance.now(); const r = f(); console.log(name.padEnd(60), (performance.now() - t).toFixed(1), 'ms'); return r; }
for (const size of [4096, 8192, 16384, 65536]) {
  const shapes: Record<string, string> = {
    random: 'wss://a.example/' + randomBytes(size / 2).toString('hex'),
    segments: 'wss://a.example' + Array.from({ length: size / 12 }, (_, i) => '/aaaaaaaa' + String(i).padStart(4, '0')).join(''),
    query: 'wss://a.example/?' + Array.from({ length: size / 14 }, (_, i) => 'a' + i + '=aaaaaaaa' + i).join('&'),
  };
  for (const [n, u] of Object.entries(shapes)) {
    const a = time(`foreign ${n} ${size}`, () => foreignAddress(u, 'wss', 'x')!);
    const s = sentSecrets([], {}, a.secrets);
    const r = time(`redaction ${n} ${size} (${a.secrets.length} secrets)`, () => new Redaction(s.all));
    const text = 'aaaaaaaa'.repeat(100);
    time(`  clean 800 chars`, () => r.clean(text));
    void OtherSide;
  }
}
