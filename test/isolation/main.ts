/**
 * Isolation: what one workspace measures while another one is hostile. Starts the built service as `npm start` does,
 * with a memory limit, and agents in processes of their own. Fails unless all criteria hold.
 * - imports: verdicts and response times beside hostile imports.
 * - voice: ten voice calls and twenty text calls beside agents that flood their voice calls.
 * - text: eight voice calls and eight text calls beside large text answers, records and lists of platforms.
 * - threads: 300 voice calls of one workspace in one thread, and in as many as there are processors.
 *
 * Usage: npm run isolation [-- [imports|voice|text|threads] [--calls N] [--short] [--only ATTACK[,ATTACK]] [--hostile-calls N]]
 * The short form, for CI, has the sides of voice and text, and no limits of time: every victim must pass, at most
 * one in twenty in its second attempt.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { VOICE_ATTACKS } from './attacks.js';
import { besideImports } from './imports.js';
import { besideThemselves } from './one-workspace.js';
import { Processes } from './processes.js';
import { print } from './subjects.js';
import { besideTextAttacks, TEXT_ATTACKS } from './text.js';
import { besideVoiceAttacks } from './voice.js';

const { values, positionals } = parseArgs({
  options: {
    calls: { type: 'string', default: '200' },
    short: { type: 'boolean', default: false },
    only: { type: 'string' },
    'hostile-calls': { type: 'string', default: '2' },
  },
  allowPositionals: true,
});
const { short: isShort, only } = values;
const known = [...VOICE_ATTACKS, ...TEXT_ATTACKS];
for (const attack of only?.split(',') ?? []) {
  if (!known.includes(attack)) throw new Error(`There is no attack ${attack}: ${known.join(', ')}`);
}
const chosenOf = (attacks: readonly string[]) => attacks.filter((attack) => only?.split(',').includes(attack) ?? true);
const directories: string[] = [];
async function open(): Promise<Processes> {
  directories.push(await mkdtemp(path.join(tmpdir(), 'isolation-')));
  return new Processes(directories.at(-1)!);
}

async function within(side: (processes: Processes) => Promise<boolean>): Promise<boolean> {
  const processes = await open();
  try {
    return await side(processes);
  } finally {
    await processes.stop();
  }
}

const SIDES: Readonly<Record<string, () => Promise<boolean>>> = {
  imports: () => within((processes) => besideImports(processes, Number(values.calls))),
  voice: () =>
    within((processes) =>
      besideVoiceAttacks(processes, chosenOf(VOICE_ATTACKS), Number(values['hostile-calls']), isShort),
    ),
  text: () => within((processes) => besideTextAttacks(processes, chosenOf(TEXT_ATTACKS), isShort)),
  threads: () => besideThemselves(open),
};

const chosen = positionals.length > 0 ? positionals : isShort ? ['voice', 'text'] : Object.keys(SIDES);
let holds = true;
for (const name of chosen) {
  const side = SIDES[name];
  if (!side) throw new Error(`There is no side ${name}: ${Object.keys(SIDES).join(', ')}`);
  try {
    print(`== ${name}`);
    if (!(await side())) holds = false;
  } finally {
    for (const directory of directories.splice(0)) {
      await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    }
  }
}
process.exitCode = holds ? 0 : 1;
print(holds ? 'All limits hold.' : 'The limits do not hold.');
