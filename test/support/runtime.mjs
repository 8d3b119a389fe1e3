import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileFunction } from 'node:vm';
import Runtime from 'jest-runtime';
import { compiledFile } from './build.mjs';

const require = createRequire(import.meta.url);

/**
 * Jest loads every module again for each test file, which takes most of the time of a run. Here, Node loads packages and
 * the compiled sources (build.mjs) once per worker, as it does in the service; only test files are loaded by Jest.
 * Hence `jest.mock` has no effect, and a module must not keep state that another test file could notice.
 */
export default class WorkerRuntime extends Runtime {
  constructor(...options) {
    super(...options);
    const { executor } = this;
    executor.compile = (source, filename) => compileFunction(source, executor.injectedModuleParameters, { filename });
  }

  requireModuleOrMock(from, name) {
    const file = this.#nativeFile(from, name);
    return file === undefined ? super.requireModuleOrMock(from, name) : require(file);
  }

  /** The file that Node loads for an import of a test file; undefined if Jest provides the module. */
  #nativeFile(from, name) {
    if (name.startsWith('.')) {
      const file = this._resolution.resolveCjs(from, name);
      return compiledFile(file);
    }
    if (path.isAbsolute(name) || name === 'expect' || name.startsWith('@jest/')) return undefined;
    // With the conditions of `import`, so that tests get the same instance of a package as the sources.
    const url = import.meta.resolve(name);
    return url.startsWith('file:') ? fileURLToPath(url) : undefined;
  }
}
