import { SWC_OPTIONS } from './test/support/build.mjs';

/** swc compiles the test files to CommonJS, because Jest's support of ESM is experimental. */
const transform = ['<rootDir>/test/support/transform.mjs', { ...SWC_OPTIONS, module: { type: 'commonjs' } }];

const shared = {
  testEnvironment: '<rootDir>/test/support/environment.mjs',
  runtime: '<rootDir>/test/support/runtime.mjs',
  transform: { '\\.ts$': transform },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  runner: '<rootDir>/test/support/runner.mjs',
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
};

const project = (displayName, ...testMatch) => ({ ...shared, displayName, testMatch });

export default {
  testTimeout: 120_000,
  // Tests mostly wait for sockets and processes, and Jest's default of one worker on two cores would leave a core idle.
  maxWorkers: '100%',
  reporters: ['default', '<rootDir>/test/support/count-reporter.mjs'],
  projects: [
    project('unit', '<rootDir>/src/**/*.spec.ts', '<rootDir>/libs/**/*.spec.ts'),
    project('integration', '<rootDir>/test/integration/**/*.test.ts'),
    project('e2e', '<rootDir>/test/e2e/**/*.test.ts'),
    project('browser', '<rootDir>/test/browser/**/*.test.ts'),
    project('realtime', '<rootDir>/test/realtime/**/*.test.ts'),
  ],
};
