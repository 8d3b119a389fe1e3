import { Command, InvalidArgumentError } from 'commander';
import { DEFAULT_SLOW_MS } from './agent.js';
import { FAULT_NAMES, FAULTS, type FaultName, isFault } from './faults.js';
import { AGENT_NAME, DEFAULT_HOST, DEFAULT_PORT, startReferenceAgent } from './server.js';

interface Flags {
  readonly fault?: FaultName;
  readonly listFaults?: boolean;
  readonly port: number;
  readonly host: string;
  readonly latencyMs: number;
  readonly slowMs: number;
  readonly tokensPerSecond: number;
}

const LONGEST_DELAY_MS = 600_000;
const MOST_TOKENS = 100_000;

/** The command line of the reference agent. It serves until SIGINT or SIGTERM. */
export function agentProgram(start = startReferenceAgent): Command {
  return new Command('reference-agent')
    .description('A restaurant-booking agent to test against: right by default, or with one planted fault.')
    .option('--fault <name>', 'the fault to show, one of --list-faults', fault)
    .option('--list-faults', 'print every fault with what a tester must find, and end')
    .option('--port <n>', 'port to listen on; 0 for any free one', wholeNumber(0, 65_535), DEFAULT_PORT)
    .option('--host <address>', 'address to listen on', DEFAULT_HOST)
    .option('--latency-ms <n>', 'wait before the first part of every answer', wholeNumber(0, LONGEST_DELAY_MS), 0)
    .option('--slow-ms <n>', 'what the fault slow-answer adds', wholeNumber(0, LONGEST_DELAY_MS), DEFAULT_SLOW_MS)
    .option('--tokens-per-second <n>', 'pace of the answers; 0 for all at once', wholeNumber(0, MOST_TOKENS), 0)
    .allowExcessArguments(false)
    .exitOverride()
    .action(async ({ listFaults, ...options }: Flags) => {
      if (listFaults) return print(faultList());
      const server = await startOrExplain(start, options);
      print(`The ${options.fault ? `agent with the fault ${options.fault}` : 'sound agent'} listens on ${server.url}
  POST ${server.url}/v1/chat/completions
  POST ${server.url}/agents/${AGENT_NAME}:FAULT/v1/chat/completions   for any fault of --list-faults`);
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.close());
    });
}

async function startOrExplain(start: typeof startReferenceAgent, options: Omit<Flags, 'listFaults'>) {
  try {
    return await start(options);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const at = `${options.host}:${options.port}`;
    if (code === 'EADDRINUSE') throw new Error(`${at} is in use; choose another --port`, { cause: error });
    if (code === 'EACCES')
      throw new Error(`${at} may not be used by this user; choose another --port`, { cause: error });
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new Error(`--host ${options.host} is no address of this machine`, { cause: error });
    }
    throw error;
  }
}

/** Every fault, what it does and what a tester must find. */
export function faultList(): string {
  return FAULT_NAMES.map((name) => `${name}\n  shows: ${FAULTS[name].shows}\n  find:  ${FAULTS[name].find}`).join('\n');
}

function fault(name: string): FaultName {
  if (isFault(name)) return name;
  throw new InvalidArgumentError(`The faults are ${FAULT_NAMES.join(', ')}.`);
}

function wholeNumber(least: number, most: number) {
  return (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

const print = (text: string) => void process.stdout.write(`${text}\n`);
