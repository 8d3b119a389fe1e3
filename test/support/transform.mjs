import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import swc from '@swc/jest';
import { outputFile } from './build.mjs';

const OWN_SOURCE = readFileSync(fileURLToPath(import.meta.url));

/**
 * Compiles test files for Jest with swc. Their `import.meta.url` is that of a compiled file (build.mjs), next to which they
 * find the modules of threads: a thread does not inherit Jest's compilation.
 */
export default {
  createTransformer(options) {
    const transformer = swc.createTransformer(options);
    return {
      ...transformer,
      getCacheKey: (...parameters) =>
        createHash('sha1')
          .update(transformer.getCacheKey(...parameters))
          .update(OWN_SOURCE)
          .digest('hex'),
      process(source, file, jestOptions) {
        const url = JSON.stringify(pathToFileURL(outputFile(file)).href);
        return transformer.process(source.replaceAll('import.meta.url', url), file, jestOptions);
      },
    };
  },
};
