import { CommanderError } from 'commander';
import type { ErrorIssue } from './answers.js';
import { painter } from './colour.js';
import { CommandError, EXIT, type ExitCode, RefusedError } from './errors.js';
import type { Io } from './io.js';
import { OPTION_OF, vatProgram } from './program.js';
import { plain } from './text.js';

/**
 * Executes a command of `vat` and explains its errors.
 * @param words as typed after `vat`
 */
export async function runCommandLine(words: readonly string[], io: Io): Promise<ExitCode> {
  let code: ExitCode = EXIT.met;
  try {
    await vatProgram(io, (concluded) => (code = concluded)).parseAsync(words, { from: 'user' });
    return code;
  } catch (error) {
    // Commander has printed the error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.met : EXIT.misused;
    explain(error, io);
    return error instanceof CommandError ? error.exitCode : EXIT.noResult;
  }
}

/** An issue may list all types of checks before it names the line of the file. */
const MAX_DETAIL = 1_000;

function explain(error: unknown, io: Io): void {
  const write = (line: string) => io.stderr.write(`${line}\n`);
  const paint = painter(io.stderr, io.env);
  if (!(error instanceof CommandError)) {
    return void write(`vat: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
  write(paint('red', `vat: ${plain(error.message)}`));
  const details = error instanceof RefusedError ? error.issues.map(withOption) : error.details;
  for (const detail of details) write(`  - ${plain(detail, MAX_DETAIL)}`);
  write(`  ${error.cure}`);
}

/** Adds the option that corresponds to the field of an issue. */
function withOption({ message, field = '' }: ErrorIssue): string {
  const option = OPTION_OF[field.split(/[.[]/)[0]!];
  return option === undefined ? message : `${option}: ${message}`;
}
