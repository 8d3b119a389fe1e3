import { readFile, writeFile } from 'node:fs/promises';
import { storedCells } from './replay-cells.js';
import { HASHES, type Hashes, type Replay } from './replay-hashes.js';
import { startReplayThreads } from './replay-threads.js';

const STORED = new URL('replay.json', import.meta.url);

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Writes the hashes of all stored calls. */
export async function writeReplay(file: string | URL = STORED): Promise<void> {
  const replays = await replayed(1);
  const sorted = Object.fromEntries(
    [...replays].map(([name, { hashes }]) => [name, hashes] as const).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  await writeFile(file, `${JSON.stringify(sorted, null, 2)}\n`);
}

/** Repeats every nth of the stored calls and prints those with another hash. @returns whether there are none */
export async function compareReplay(every: number, file: string | URL = STORED): Promise<boolean> {
  const stored = new Map(Object.entries(JSON.parse(await readFile(file, 'utf8')) as Record<string, Hashes>));
  const known = storedCells();
  const startedAt = performance.now();
  const replays = await replayed(every);
  const differences = [...replays].flatMap(([name, { hashes: found, isRemeasuredAlike }]) => {
    const before = stored.get(name);
    const different: string[] = before ? HASHES.filter((hash) => before[hash] !== found[hash]) : ['not in the file'];
    if (!isRemeasuredAlike) different.push('remeasured');
    return different.length === 0 ? [] : [`${name}: ${different.join(', ')}`];
  });
  differences.push(...[...stored.keys()].filter((name) => !known.has(name)).map((name) => `${name}: only in the file`));
  for (const difference of differences) print(`DIFFERENT  ${difference}`);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  print(`${replays.size} stored calls repeated and remeasured, ${differences.length} different, ${seconds} s`);
  return differences.length === 0;
}

async function replayed(every: number): Promise<Map<string, Replay>> {
  const cells = [...storedCells()].filter((_, index) => index % every === 0);
  const threads = await startReplayThreads();
  try {
    const replays = await threads.runAll(
      'Replay',
      cells.map(([, cell]) => cell),
    );
    return new Map(cells.map(([name], index) => [name, replays[index]!]));
  } finally {
    await threads.close();
  }
}
