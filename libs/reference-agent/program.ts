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

const MAX_DELAY_MS = 600_000;
const MAX_TOKENS_PER_SECOND = 100_000;

/** The CLI of the reference agent. The server runs until SIGINT or SIGTERM. */
export function agentProgram(start = startReferenceAgent): Command {
  return new Command('reference-agent')
    .description('A restaurant-booking agent to test against: correct by default, or with one planted fault.')
    .option('--fault <name>', 'fault to plant, one of --list-faults', fault)
    .option('--list-faults', 'print all faults and how to detect them, then exit')
    .option('--port <n>', 'port to listen on; 0 for any free port', wholeNumber(0, 65_535), DEFAULT_PORT)
    .option('--host <address>', 'address to listen on', DEFAULT_HOST)
    .option('--latency-ms <n>', 'delay before the first part of every answer', wholeNumber(0, MAX_DELAY_MS), 0)
    .option('--slow-ms <n>', 'additional delay of the fault slow-answer', wholeNumber(0, MAX_DELAY_MS), DEFAULT_SLOW_MS)
    .option(
      '--tokens-per-second <n>',
      'speed of the answers; 0 sends each at once',
      wholeNumber(0, MAX_TOKENS_PER_SECOND),
      0,
    )
    .allowExcessArguments(false)
    .exitOverride()
    .action(async ({ listFaults, ...options }: Flags) => {
      if (listFaults) return print(faultList());
      const server = await startOrExplain(start, options);
      print(`The ${options.fault ? `agent with the fault ${options.fault}` : 'sound agent'} is listening on ${server.url}
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
    if (code === 'EADDRINUSE') throw new Error(`${at} is already in use; choose another --port`, { cause: error });
    if (code === 'EACCES') throw new Error(`permission denied for ${at}; choose another --port`, { cause: error });
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new Error(`--host ${options.host} is not an address of this machine`, { cause: error });
    }
    throw error;
  }
}

/** All faults with their effect and how a tester detects them. */
export function faultList(): string {
  return FAULT_NAMES.map(
    (name) => `${name}\n  effect:    ${FAULTS[name].effect}\n  detection: ${FAULTS[name].detection}`,
  ).join('\n');
}

function fault(name: string): FaultName {
  if (isFault(name)) return name;
  throw new InvalidArgumentError(`Valid faults: ${FAULT_NAMES.join(', ')}.`);
}

function wholeNumber(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Must be a whole number from ${min} to ${max}.`);
  };
}

const print = (text: string) => void process.stdout.write(`${text}\n`);
