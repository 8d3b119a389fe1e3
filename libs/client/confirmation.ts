import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Io } from './io.js';

type Terminal = { readonly isTTY?: boolean };

/** Asks on a terminal: any answer but y means no, as does the end of the input or a signal. Empty without a terminal. */
export function confirmation(input: Readable & Terminal, output: Writable & Terminal): Pick<Io, 'confirm'> {
  if (input.isTTY !== true || output.isTTY !== true) return {};
  const confirm = (question: string) =>
    new Promise<boolean>((resolve) => {
      const lines = createInterface({ input, output, terminal: false });
      const close = () => lines.close();
      process.once('SIGINT', close);
      lines.once('close', () => {
        process.off('SIGINT', close);
        resolve(false);
      });
      lines.question(`${question} [y/N] `, (answer) => {
        resolve(/^y(es)?$/i.test(answer.trim()));
        close();
      });
    });
  return { confirm };
}
