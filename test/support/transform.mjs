import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import swc from '@swc/jest';
import { compiledFile } from './build.mjs';

const OWN_SOURCE = readFileSync(fileURLToPath(import.meta.url));

/**
 * Compiles for Jest with swc. `import.meta.url` is that of the compiled file (build.mjs), next to which a source finds the
 * modules of its threads: a thread does not inherit Jest's compilation.
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
        const compiled = compiledFile(file);
        if (compiled === undefined) return transformer.process(source, file, jestOptions);
        const url = JSON.stringify(pathToFileURL(compiled).href);
        return transformer.process(source.replaceAll('import.meta.url', url), file, jestOptions);
      },
    };
  },
};
