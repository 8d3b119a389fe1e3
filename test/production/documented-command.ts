import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The command of docs/production.md that begins with a word; a document without exactly one is an error. */
export function documentedCommand(root: string, word: string): string {
  const text = readFileSync(path.join(root, 'docs/production.md'), 'utf8');
  const blocks = [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = '']) => block);
  const [command, ...others] = blocks.filter((block) => block.startsWith(`${word} `));
  if (command === undefined || others.length > 0) throw new Error(`docs/production.md has not one block of ${word}`);
  return command;
}
