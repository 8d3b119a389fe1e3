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
 * Whether the programs are installed; otherwise prints why the tests are skipped. In CI, where no test may be skipped, they are
 * expected.
 */
export function havePrograms(needed: Program | readonly Program[], tests: string): boolean {
  const missing = [needed].flat().filter((program) => !isInstalled(program));
  if (process.env['REQUIRE_ALL_TESTS'] === 'true' || missing.length === 0) return true;
  const packages = missing.map((program) => PACKAGES[program]).join(' ');
  process.stderr.write(
    `Skipped: "${tests}", because there is no ${missing.join(', ')} (apt-get install ${packages})\n`,
  );
  return false;
}

/** `describe` if the programs are installed; otherwise skips the tests as `havePrograms` says. */
export function describeWith(needed: Program | readonly Program[], name: string, tests: () => void): void {
  (havePrograms(needed, name) ? describe : describe.skip)(name, tests);
}
