import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { transformFileSync } from '@swc/core';

const LIBS = path.resolve(__dirname, '../..');

/** Compiles a library to ES modules, as the build does. */
function compile(library: string, target: string): void {
  for (const entry of readdirSync(path.join(LIBS, library), { recursive: true, encoding: 'utf8' })) {
    if (!entry.endsWith('.ts') || /\.(spec|d)\.ts$|testing\//.test(entry)) continue;
    const { code } = transformFileSync(path.join(LIBS, library, entry), {
      swcrc: false,
      jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
      module: { type: 'es6' },
    });
    const file = path.join(target, library, entry.replace(/\.ts$/, '.js'));
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, code);
  }
}

describe('the compiled engine', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'compiled-speech-'));
    writeFileSync(path.join(folder, 'package.json'), '{"type": "module"}');
    symlinkSync(path.resolve(LIBS, '../node_modules'), path.join(folder, 'node_modules'));
    for (const library of [
      ...['audio', 'concurrency', 'environment-proxy', 'json-input', 'outbound-http', 'speech', 'text'],
    ])
      compile(library, folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const run = (program: string) =>
    execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: folder, encoding: 'utf8' });

  it('speaks with plain Node, and its idle thread does not keep the process alive', () => {
    const output = run(`
      import { FliteEngine } from './speech/index.js';
      const sound = await new FliteEngine().synthesise({ text: 'Good morning.', voice: 'slt' });
      console.log(sound.words.map(({ text }) => text).join(' '));
    `);
    expect(output).toBe('Good morning.\n');
  });
});
