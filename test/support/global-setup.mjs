// Jest applies neither its transform's module mapping nor its resolver to a global set-up, hence the loader.
import '@swc-node/register/esm-register';

export default async function globalSetup() {
  const { startTestPostgres } = await import('./test-postgres.ts');
  globalThis.testPostgres = await startTestPostgres();
  // Jest's workers inherit the environment and nothing else.
  process.env.TEST_DATABASE_URL = globalThis.testPostgres.url;
}
