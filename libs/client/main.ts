import { runCommandLine } from './command-line.js';
import { confirmation } from './confirmation.js';
import { type Io, printing } from './io.js';
import { ownPackage } from './own-package.js';

const io: Io = {
  env: process.env,
  stdout: printing(process.stdout),
  stderr: printing(process.stderr),
  writeFile: (text) => void process.stdout.write(text),
  own: ownPackage(),
  ...confirmation(process.stdin, process.stderr),
};

// The reader of a pipe may close it early; the run must still be followed.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

process.exitCode = await runCommandLine(process.argv.slice(2), io);
