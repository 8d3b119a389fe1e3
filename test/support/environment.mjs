import 'reflect-metadata';
import { AsyncLocalStorage } from 'node:async_hooks';
import { setFlagsFromString } from 'node:v8';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

/** Globals in which Jest's modules, which each test file loads again, find the state of the previous file. */
const JEST_STATE = ['EVENT_HANDLERS', 'TEST_TIMEOUT_SYMBOL'].map((name) => Symbol.for(name));

/** Where V8 has the flag; newer versions of Node have others. */
const CAN_OPTIMISE_LATER = process.version.startsWith('v20.');
const DEFAULT_INTERRUPT_BUDGET = 67_584;

/**
 * What the test file has used. On Node 20 each of them costs time with every promise and timer until it is disabled, and Jest and
 * the service create others for every file.
 */
const storages = new Set();
for (const name of ['run', 'enterWith']) {
  const original = AsyncLocalStorage.prototype[name];
  AsyncLocalStorage.prototype[name] = function (...values) {
    storages.add(this);
    return original.apply(this, values);
  };
}

/**
 * Runs test files in the worker's own context instead of a new one per file: that context has the modules which the worker
 * has already loaded (runtime.mjs), one `Error` and one `Array` for all code, and globals that cost nothing to use.
 */
export default class WorkerEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  #env = { ...process.env };
  #exit = process.exit;
  #console = console;

  constructor({ projectConfig }) {
    // Functions are optimised later, because most run too briefly for it to pay; not where real time is measured.
    const isRealTime = projectConfig.displayName.name === 'realtime';
    if (CAN_OPTIMISE_LATER) {
      setFlagsFromString(`--interrupt-budget=${isRealTime ? DEFAULT_INTERRUPT_BUDGET : 1_000_000}`);
      // Even later in processes that a test starts: optimising was a fifth of their processor time.
      if (!isRealTime) process.env.TEST_NODE_FLAGS = '--interrupt-budget=4000000';
    }
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {}

  async teardown() {
    this.fakeTimersModern.dispose();
    for (const storage of storages) storage.disable();
    storages.clear();
    globalThis.console = this.#console;
    process.exit = this.#exit;
    for (const name of Object.keys(process.env)) if (!(name in this.#env)) delete process.env[name];
    Object.assign(process.env, this.#env);
    for (const symbol of JEST_STATE) delete globalThis[symbol];
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** Required by Jest; runtime.mjs does not use it. */
  getVmContext() {
    return globalThis;
  }
}
