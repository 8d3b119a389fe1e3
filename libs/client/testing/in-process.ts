import { runCommandLine } from '../command-line.js';
import { printing } from '../io.js';
import { ownPackage } from '../own-package.js';

/** Executes a command of `vat` in this process, whose output is not a terminal. */
export async function executeInProcess(words: readonly string[], env: NodeJS.ProcessEnv) {
  let [stdout, stderr] = ['', ''];
  const code = await runCommandLine(words, {
    env,
    stdout: printing({ write: (text) => void (stdout += text) }),
    stderr: printing({ write: (text) => void (stderr += text) }),
    writeFile: (text) => void (stdout += text),
    own: ownPackage(),
  });
  return { code, stdout, stderr };
}
