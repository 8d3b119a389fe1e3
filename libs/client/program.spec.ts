import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { requestOf, vatProgram } from './program.js';
import { executeInProcess } from './testing/in-process.js';

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

describe('vat run', () => {
  const parsed = (...options: string[]) => {
    const run = vatProgram(io, () => undefined).commands.find((one) => one.name() === 'run')!;
    run.exitOverride().parseOptions(options);
    return requestOf(run.opts());
  };

  it("gives variables and a version to the agent's platform", () => {
    const asked = [
      '--variable',
      'name=Rossi',
      '--variable',
      'sum=1=1',
      '--variable',
      'note=',
      '--assistant-version',
      'v7',
    ];
    expect(parsed(...asked, '--max-paid-attempts', '1')).toEqual({
      agentVariables: { name: 'Rossi', sum: '1=1', note: '' },
      assistantVersion: 'v7',
      maxPaidAttempts: 1,
    });
    expect(parsed()).toEqual({});
  });

  it.each(['name', '=Rossi'])('refuses the variable "%s"', (text) => {
    expect(() => parsed('--variable', text)).toThrow('Must be NAME=VALUE.');
  });
});

describe('an empty value', () => {
  it.each([
    ['--report', 'run --agent 1 --report='],
    ['--agent', 'run --agent='],
    ['--evaluation', 'run --agent 1 --evaluation a --evaluation='],
    ['--compare-with', 'status 1 --compare-with='],
    ['<run>', 'status'],
    ['<others>', 'compare 1'],
    ['--out', 'report 1 --out='],
  ])('of %s is refused before the service is asked', async (name, words) => {
    const last = name.startsWith('<') ? [''] : [];
    const { code, stderr } = await executeInProcess([...words.split(' '), ...last], {});
    expect([code, stderr]).toEqual([
      3,
      `vat: ${name} is empty\n  Give it a value; a variable that is not set is empty.\n`,
    ]);
  });
});
