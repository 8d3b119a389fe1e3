import { spawnSync } from 'node:child_process';

/** Programs of Debian that tests use, each with its package. */
const PACKAGES = {
  baresip: 'baresip-core',
  kamailio: 'kamailio',
  nginx: 'nginx-light',
  sipp: 'sip-tester',
  sox: 'sox',
  tinyproxy: 'tinyproxy-bin',
  xmllint: 'libxml2-utils',
} as const;
export type Program = keyof typeof PACKAGES;

const isInstalled = (program: Program): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

/**
 * `describe` if the program is installed; otherwise prints the reason and skips the tests. In CI, where no test may be
 * skipped, they fail.
 */
export function describeWith(program: Program, name: string, tests: () => void): void {
  if (process.env['REQUIRE_ALL_TESTS'] === 'true' || isInstalled(program)) return describe(name, tests);
  process.stderr.write(`Skipped: "${name}", because there is no ${program} (apt-get install ${PACKAGES[program]})\n`);
  describe.skip(name, tests);
}
