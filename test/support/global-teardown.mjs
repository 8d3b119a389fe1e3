import { once } from 'node:events';

export default async function globalTeardown() {
  await globalThis.testPostgres?.stop();
  const guard = globalThis.testGuard;
  if (!guard) return;
  const ended = once(guard, 'exit');
  guard.ref();
  guard.stdin.end();
  await ended;
}
