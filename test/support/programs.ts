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
 * `describe` if the programs are installed; otherwise prints the reason and skips the tests. In CI, where no test may be
 * skipped, they fail.
 */
export function describeWith(needed: Program | readonly Program[], name: string, tests: () => void): void {
  const missing = [needed].flat().filter((program) => !isInstalled(program));
  if (process.env['REQUIRE_ALL_TESTS'] === 'true' || missing.length === 0) return describe(name, tests);
  const packages = missing.map((program) => PACKAGES[program]).join(' ');
  process.stderr.write(`Skipped: "${name}", because there is no ${missing.join(', ')} (apt-get install ${packages})\n`);
  describe.skip(name, tests);
}
