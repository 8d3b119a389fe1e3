import path from 'node:path';

/**
 * Arguments with which Node runs a program of the project.
 * @param source relative to the project's root, which must be the working directory
 */
export function programArguments(source: string): string[] {
  // The global setup of Jest compiles the sources and sets it, environment.mjs the flags; the crash tests run without Jest.
  const build = process.env['TEST_BUILD'];
  if (build === undefined) return ['--import', '@swc-node/register/esm-register', source];
  const flags = process.env['TEST_NODE_FLAGS']?.split(' ') ?? [];
  return [...flags, path.join(build, source.replace(/\.ts$/, '.js'))];
}
