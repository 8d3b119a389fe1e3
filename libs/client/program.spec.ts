import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { vatProgram } from './program.js';

const DOCUMENT = path.resolve(__dirname, '../../docs/guides/cli.md');
const stream = { write: () => true };
const io = { env: {}, stdout: stream, stderr: stream, writeFile: () => undefined, own: { version: '1.0.0' } };

/** Help of a command and, recursively, of its subcommands. */
function helps(command: Command, name: string): [string, string][] {
  command.configureHelp({ helpWidth: 100 });
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 100 });
  command.outputHelp();
  return [[name, text.trim()], ...command.commands.flatMap((child) => helps(child, `${name} ${child.name()}`))];
}

describe('the reference of the command line', () => {
  it.each(
    helps(
      vatProgram(io, () => undefined),
      'vat',
    ),
  )('has the help of %s as the program prints it', (name, help) => {
    const document = readFileSync(DOCUMENT, 'utf8');
    expect(document).toContain(`## ${name}\n\n\`\`\`text\n${help}\n\`\`\``);
  });
});
