/**
 * One recipe for every kind of test: own code and the ESM-only Nest packages are turned into CommonJS by swc,
 * because native-ESM Jest breaks on CommonJS Nest libraries such as the throttler. swc checks no types;
 * `npm run typecheck` does.
 */
const swc = [
  '@swc/jest',
  {
    jsc: {
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
      keepClassNames: true,
      target: 'es2023',
    },
    module: { type: 'commonjs' },
  },
];

const shared = {
  testEnvironment: 'node',
  transform: { '^.+\\.(t|j)s$': swc },
  transformIgnorePatterns: ['/node_modules/(?!@nestjs/)'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  setupFiles: ['reflect-metadata'],
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
};

const project = (displayName, ...testMatch) => ({ ...shared, displayName, testMatch });

export default {
  testTimeout: 60_000,
  // Most of them wait for sockets and processes: one worker, as Jest has it on two cores, would leave half of it idle.
  maxWorkers: '100%',
  reporters: ['default', '<rootDir>/test/support/count-reporter.mjs'],
  projects: [
    project('unit', '<rootDir>/src/**/*.spec.ts', '<rootDir>/libs/**/*.spec.ts'),
    project('integration', '<rootDir>/test/integration/**/*.test.ts'),
    project('e2e', '<rootDir>/test/e2e/**/*.test.ts'),
  ],
};
