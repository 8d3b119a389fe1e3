// Jest applies neither its module mapping nor its resolver to the global setup, so TypeScript needs its own loader.
import '@swc-node/register/esm-register';

export default async function globalSetup() {
  const { startTestPostgres } = await import('./test-postgres.ts');
  globalThis.testPostgres = await startTestPostgres();
  // Jest workers inherit only the environment.
  process.env.TEST_DATABASE_URL = globalThis.testPostgres.url;
}
