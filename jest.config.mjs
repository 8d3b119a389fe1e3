import { availableParallelism } from 'node:os';
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

/** What must work before anything else, end to end: few of the long tests, as far as the sample goes. */
const SMOKE = [
  '<rootDir>/test/smoke/**/*.test.ts',
  '<rootDir>/test/e2e/{conformance,first-start,guide-commands,isolation,killed-paid-calls}.test.ts',
  '<rootDir>/test/simulators/{agent/voice,elevenlabs,openai-realtime,pipecat,vapi}/accuracy.spec.ts',
  '<rootDir>/test/simulators/{agent/voice/telephone-words,openai-realtime/calls}.spec.ts',
];
/**
 * Tests that start many processes (the service, `vat`, npx, Redis, PostgreSQL), make thousands of requests, messages or
 * calls, compute for seconds, or wait for retries.
 */
const LONG = [
  '<rootDir>/libs/embedded-postgres/**/*.spec.ts',
  '<rootDir>/test/e2e/{call-metrics,client-package,client-upgrade,cluster,embedded-database}.test.ts',
  '<rootDir>/test/e2e/{import-lifetimes,killed-platform-calls,killed-run,operation,outbound-calls,pipelines,rate-limits-redis}.test.ts',
  '<rootDir>/test/e2e/{vat,vat-certificates,vat-connection,vat-suites}.test.ts',
  '<rootDir>/test/e2e/{evaluation-export,evaluation-import,evaluation-import-faults,hostile-forms,hostile-input,import-limits,suite-moves}.test.ts',
  '<rootDir>/test/e2e/{abandoned-processes,environment,uncaught-errors}.test.ts',
  '<rootDir>/test/e2e/{own-records,paid-calls,platform-calls,speech-servers,vapi-calls}.test.ts',
  '<rootDir>/test/e2e/{assistants,call-import,compressed-bodies,conformance-fields,erased-agents}.test.ts',
  '<rootDir>/test/e2e/{rate-limits,run-comparison,run-failures,run-outcomes,webhooks-receivers}.test.ts',
  '<rootDir>/test/e2e/{alarm-kills,schedule-kills,schedule-years}.test.ts',
  '<rootDir>/test/integration/{database-server,database-settings,openapi,sip-attacks,sip-baresip,sip-kills,sip-media,sip-mutations,sip-proxy,sip-states,webhook-delivery}.test.ts',
  '<rootDir>/src/modules/evaluations/import-export/formats.spec.ts',
  '<rootDir>/test/simulators/{agent/voice,openai-realtime}/**/{guide,imported,imported-words,interruptions,hearing,lag,misbehaving-models,replay,speech-failures}.spec.ts',
  '<rootDir>/libs/simulation/call/{faulty-agents,misbehaving-models}.spec.ts',
  '<rootDir>/libs/simulation/voice/call/{sent-too-much,stalled-delivery,stalled-tester}.spec.ts',
  '<rootDir>/libs/simulation/transports/**/{calls,contract,fixture-wire,platform-sound}.spec.ts',
  '<rootDir>/libs/json-schema/validate-json.spec.ts',
  '<rootDir>/libs/sip/hostile.spec.ts',
  '<rootDir>/libs/speech/{flite/flite-engine,server/speech-server,sounds/sounds}.spec.ts',
  '<rootDir>/libs/statistics/{comparison,falls-rates}.spec.ts',
  '<rootDir>/libs/text/normalise-text.spec.ts',
];
/** Tests whose expectations depend on the real time, which other processes may delay. */
const REAL_TIME = [
  '<rootDir>/test/realtime/**/*.test.ts',
  '<rootDir>/libs/simulation/transports/http/websocket.spec.ts',
];
// Jest does not replace <rootDir> after an exclamation mark.
const except = [...SMOKE, ...LONG, ...REAL_TIME].map((pattern) =>
  pattern.replace('<rootDir>', `!${import.meta.dirname}`),
);

const projects = [
  project('unit', '<rootDir>/{src,libs,test/simulators}/**/*.spec.ts', ...except),
  project('integration', '<rootDir>/test/integration/**/*.test.ts', ...except),
  project('e2e', '<rootDir>/test/e2e/**/*.test.ts', ...except),
  project('smoke', ...SMOKE),
  project('long', ...LONG),
  project('browser', '<rootDir>/test/browser/**/*.test.ts'),
  project('realtime', ...REAL_TIME),
];
/** Those of `npm test`; absent: all, as for `npm run test:all` and `npx jest path/to/file`. */
const chosen = process.env.TEST_PROJECTS?.split(' ');

export default {
  testTimeout: 120_000,
  // Tests also wait for sockets, processes and calls in real time, and leave cores idle with two workers each.
  maxWorkers: 3 * availableParallelism(),
  // A worker keeps what it has loaded; it is replaced after a test file if it has grown to this.
  workerIdleMemoryLimit: '1GB',
  reporters: ['default', '<rootDir>/test/support/count-reporter.mjs'],
  projects: chosen ? projects.filter(({ displayName }) => chosen.includes(displayName)) : projects,
};
