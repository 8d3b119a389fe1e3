// Modules of the simulators, which the build does not contain, from the compiled sources of the tests.
import { pathToFileURL } from 'node:url';

/**
 * Compiles the sources that have changed. Exits with 1 where the development dependencies, which compile them, are missing.
 * @param file source relative to the project's root
 * @returns its module; all that one process uses must come from here, because classes of the build are other classes
 */
export async function importSource(file) {
  const { buildSources, outputFile } = await loadCompiler();
  await buildSources();
  return import(pathToFileURL(outputFile(file)).href);
}

async function loadCompiler() {
  try {
    return await import('../test/support/build.mjs');
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    process.stderr.write(
      'The simulators need the sources and the development dependencies: run "npm ci --include=dev"\n',
    );
    process.exit(1);
  }
}
