import type { Command } from 'commander';
import { painter } from './colour.js';
import { type Consent, requireConsent } from './consent.js';
import { EXIT, type ExitCode } from './errors.js';
import { connect, type Io, type ServiceFlags } from './io.js';
import { addOptions, missingOption, SERVICE_OPTIONS, YES } from './options.js';
import type { Connection, ConnectionTest } from './service.js';
import type { Look } from './table.js';
import { plain } from './text.js';

/** Adds `vat connection test`. @param conclude receives the exit code */
export function addConnectionCommand(program: Command, io: Io, conclude: (code: ExitCode) => void): void {
  const connection = program.command('connection').description('how an agent is reached');
  const test = connection
    .command('test')
    .description('call an agent once and show step by step what happened; exit code 2 if a step failed')
    .option('--agent <id>', 'agent to call (required)')
    .addOption(YES)
    .action(async ({ agent, ...flags }: ServiceFlags & Consent & { agent?: string }) => {
      if (agent === undefined) return missingOption(test, '--agent <id>');
      conclude(await testConnection(agent, flags, io));
    });
  addOptions(test, SERVICE_OPTIONS);
}

/** Tests the connection of an agent and prints the result. @throws CommandError */
async function testConnection(agentId: string, flags: ServiceFlags & Consent, io: Io): Promise<ExitCode> {
  const service = await connect(flags, io);
  const connection = io.confirm && !flags.yes ? await service.connection(agentId) : undefined;
  if (connection && mayRing(connection)) {
    io.stderr.write('The address of the agent is a telephone number, or may be one\n');
    await requireConsent(flags, io);
  }
  io.stderr.write('Calling the agent, for at most 15 s\n');
  const result = await service.testConnection(agentId);
  io.stdout.write(`${connectionText(result, painter(io.stdout, io.env))}\n`);
  return result.ok ? EXIT.met : EXIT.noResult;
}

/** Whether calls may dial a telephone number: over SIP those to any user whose name has no letter. */
function mayRing({ protocol, url }: Connection): boolean {
  if (protocol !== 'sip') return false;
  const [, user] = /^sips?:(?:([^@]*)@)?/i.exec(url ?? '') ?? [undefined, url ?? ''];
  return user !== undefined && !/[a-z]/i.test(user.replaceAll(/\{\w+\}|%../g, ''));
}

const STEPS: Readonly<Record<ConnectionTest['steps'][number]['step'], string>> = {
  resolved: 'Address resolved',
  connected: 'Connected',
  secured: 'TLS',
  accepted: 'Accepted',
  twiml: 'TwiML',
  websocket: 'WebSocket',
  media: 'Media',
  ready: 'Session ready',
  answered: 'First words',
  words: 'Words reported',
};
const COLOURS = { passed: 'green', failed: 'red', skipped: 'dim' } as const;

/** The steps, one per line, each with the words of the agent and a fix, if there are any. */
export function connectionText({ ok, callId, steps, findings }: ConnectionTest, paint: Look['paint']): string {
  const width = Math.max(...Object.values(STEPS).map(({ length }) => length));
  const lines = steps.flatMap(({ step, status, ms, message, said, cure }) => {
    const time = ms === null ? '' : `${ms} ms`;
    const details = [said ? `It said: ${plain(said)}` : '', cure ? `Cure: ${plain(cure)}` : ''];
    return [
      `${paint(COLOURS[status], status.padEnd('skipped'.length))}  ${STEPS[step].padEnd(width)}  ${time.padStart(10)}  ${plain(message)}`,
      ...details.filter((detail) => detail !== '').map((detail) => `    ${detail}`),
    ];
  });
  const verdict = ok ? paint('green', 'The agent can be called.') : paint('red', 'The agent cannot be called.');
  const deviations = findings.map(
    ({ severity, code, detail }) => `${paint('yellow', severity)}  ${plain(code)}: ${plain(detail)}`,
  );
  return [
    ...lines,
    ...deviations,
    '',
    verdict,
    `Id of the call in the log of the agent (X-Call-Id; over sip X-Vat-Call): ${plain(callId)}`,
  ].join('\n');
}
