import { runCommandLine } from '../command-line.js';
import { type Io, printing } from '../io.js';
import { ownPackage } from '../own-package.js';

/** Executes a command of `vat` in this process, whose output is not a terminal. @param terminal what one adds */
export async function executeInProcess(
  words: readonly string[],
  env: NodeJS.ProcessEnv,
  terminal: Pick<Io, 'confirm'> = {},
) {
  let [stdout, stderr] = ['', ''];
  const code = await runCommandLine(words, {
    env,
    stdout: printing({ write: (text) => void (stdout += text) }),
    stderr: printing({ write: (text) => void (stderr += text) }),
    writeFile: (text) => void (stdout += text),
    own: ownPackage(),
    ...terminal,
  });
  return { code, stdout, stderr };
}
