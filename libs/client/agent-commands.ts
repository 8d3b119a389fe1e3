import type { Command } from 'commander';
import { readFile } from 'node:fs/promises';
import { addAgentImportCommand } from './agent-import.js';
import { readSecret } from './configuration.js';
import { type ExitCode, EXIT, misuse } from './errors.js';
import { addAgentPageCommand } from './history.js';
import { connect, type Io, type ServiceFlags } from './io.js';
import { addOptions, missingOption, SERVICE_OPTIONS } from './options.js';
import { isFinalRefusal } from './requests.js';
import type { Agent, Connection, CreateAgentRequest, PutConnectionRequest } from './service.js';
import { agents, DELETED } from './suite-commands.js';
import { plain } from './text.js';

interface ReachFlags extends ServiceFlags {
  readonly address?: string;
  readonly protocol?: string;
  readonly connection?: string;
  readonly assistant?: string;
  readonly type?: string;
  readonly phoneNumber?: string;
  readonly phoneNumberId?: string;
}

interface CreateFlags extends ReachFlags {
  readonly name?: string;
  readonly provider: string;
  readonly language?: string;
  readonly defaultKey?: boolean;
}

/** What an agent without a key gets: the service always sends one. */
const NO_KEY = 'none';
const NO_ASSISTANT = 'default';

/** Adds `vat agent` and its commands. @param conclude receives the exit code */
export function addAgentCommands(program: Command, io: Io, conclude: (code: ExitCode) => void): void {
  const agent = program.command('agent').description('agents of the workspace');

  const creating = reachable(
    agent
      .command('create')
      .description('register an agent and print its id; its key is VAT_PROVIDER_KEY')
      .option('--name <name>', 'name of the agent (required)'),
  )
    .option('--language <tag>', 'language that it speaks, such as en-US')
    .option('--provider <provider>', 'provider whose settings apply to it', 'AGENT_PROVIDER_1')
    .option('--default-key', "use the workspace's default key of the provider in place of VAT_PROVIDER_KEY")
    .action(async ({ name, ...flags }: CreateFlags) => {
      if (name === undefined) return missingOption(creating, '--name <name>');
      conclude(await create(name, flags, io));
    });
  addOptions(creating, SERVICE_OPTIONS);

  const connecting = reachable(
    agent
      .command('connect')
      .description('set how an agent is reached, in place of its connection')
      .option('--agent <id>', 'agent to connect (required)'),
  )
    .option('--new-key', 'replace its key by VAT_PROVIDER_KEY')
    .action(async ({ agent: id, ...flags }: ReachFlags & { agent?: string; newKey?: boolean }) => {
      if (id === undefined) return missingOption(connecting, '--agent <id>');
      conclude(await reconnect(id, flags, io));
    });
  addOptions(connecting, SERVICE_OPTIONS);

  const listing = agent
    .command('list')
    .description('list the agents of the workspace')
    .addOption(DELETED)
    .action(async (flags: ServiceFlags & { deleted?: boolean }) => conclude(await agents(flags, io)));
  addOptions(listing, SERVICE_OPTIONS);
  addAgentPageCommand(agent, io, conclude);
  addAgentImportCommand(agent, io, conclude);
}

const reachable = (command: Command): Command =>
  command
    .option('--address <url>', 'address of the agent, such as http://127.0.0.1:4010/v1/chat/completions')
    .option('--protocol <protocol>', 'protocol over which it is called; the service defaults to chat-completions')
    .option('--assistant <id>', 'its id at the platform; over chat completions the `model` of requests')
    .option('--type <type>', 'INBOUND, or OUTBOUND for an agent that calls; over sip it calls the tester')
    .option('--phone-number <number>', 'its telephone number, such as +390612345678')
    .option('--phone-number-id <id>', 'id of that number at the platform')
    .option('--connection <file>', 'JSON file with the connection: protocol, url, headers, firstSpeaker, options');

/** Registers an agent; without a connection if the service refuses that. @throws CommandError */
async function create(name: string, flags: Omit<CreateFlags, 'name'>, io: Io): Promise<ExitCode> {
  const { provider, language, assistant, defaultKey } = flags;
  const wanted = await readConnection(flags);
  const apiKey = defaultKey ? undefined : await readSecret('VAT_PROVIDER_KEY', io.env);
  // An agent at the vendor's address needs a key and an id; one behind a trunk needs neither.
  if (wanted && wanted.url === undefined && wanted.protocol !== 'sip') {
    if (!defaultKey && apiKey === undefined) throw misuse('VAT_PROVIDER_KEY is not set', KEY_CURE);
    if (assistant === undefined)
      throw misuse('--assistant is missing', 'Set it to the id of the agent at its platform.');
  }
  const service = await connect(flags, io);
  const agent = await service.createAgent({
    // The service says which there are.
    provider: provider as CreateAgentRequest['provider'],
    ...{ name, assistantId: NO_ASSISTANT, ...fieldsOf(flags) },
    ...(language !== undefined && { language }),
    ...(defaultKey ? { isUsingDefaultApiKey: true } : { apiKey: apiKey ?? NO_KEY }),
  });
  try {
    const connection = wanted ? await service.putConnection(agent.id, wanted) : await service.connection(agent.id);
    io.stderr.write(`Created ${reachedText(agent, connection)}\n`);
    if (!defaultKey && apiKey === undefined && (!connection || usesKey(connection))) {
      io.stderr.write(`Note: VAT_PROVIDER_KEY is not set, so the agent has the key "${NO_KEY}"\n`);
    }
  } catch (error) {
    // It can be created again by the same command.
    if (isFinalRefusal(error)) await service.delete('agent', agent.id);
    else io.stderr.write(`Agent ${agent.id} was created, but not connected: use vat agent connect\n`);
    throw error;
  }
  io.stdout.write(`${agent.id}\n`);
  return EXIT.met;
}

/** Replaces the connection of an agent, and on request its id at the platform and its key. @throws CommandError */
async function reconnect(id: string, flags: ReachFlags & { newKey?: boolean }, io: Io): Promise<ExitCode> {
  const wanted = await readConnection(flags);
  const { newKey } = flags;
  const apiKey = newKey ? await readSecret('VAT_PROVIDER_KEY', io.env) : undefined;
  if (newKey && apiKey === undefined) throw misuse('VAT_PROVIDER_KEY is not set', KEY_CURE);
  const changes = {
    ...fieldsOf(flags),
    ...(apiKey !== undefined && { apiKey, isUsingDefaultApiKey: false }),
  };
  if (!wanted && Object.keys(changes).length === 0) {
    throw misuse(
      'Nothing to change',
      'Give --address, --protocol, --assistant, --new-key or another option of --help.',
    );
  }
  const service = await connect(flags, io);
  const connection = wanted ? await service.putConnection(id, wanted) : undefined;
  const agent = await service.updateAgent(id, changes);
  io.stdout.write(`Connected ${reachedText(agent, connection ?? (await service.connection(id)))}\n`);
  return EXIT.met;
}

/** The fields of an agent that options set. */
const fieldsOf = ({ assistant, type, phoneNumber, phoneNumberId }: ReachFlags) => ({
  ...(assistant !== undefined && { assistantId: assistant }),
  // The service says which there are.
  ...(type !== undefined && { type: type as NonNullable<CreateAgentRequest['type']> }),
  ...(phoneNumber !== undefined && { phoneNumber }),
  ...(phoneNumberId !== undefined && { phoneNumberId }),
});

/** Whether calls or requests of an agent send its key: a header may replace it, and over SIP only platforms take one. */
const usesKey = ({ protocol, headers, options }: Connection): boolean =>
  protocol === 'sip'
    ? [options['trigger'], options['records']].some((named) => /^(vapi|retell|elevenlabs)/.test(String(named)))
    : !Object.keys(headers).some((name) => /^(authorization|api-key|xi-api-key)$/i.test(name));

/** The connection of the options, over that of the file; undefined if none of them is given. @throws CommandError */
async function readConnection({ address, protocol, connection: file }: ReachFlags) {
  const given: PutConnectionRequest = {
    ...(file !== undefined && (await readObject(file))),
    ...(address !== undefined && { url: address }),
    // The service says which there are.
    ...(protocol !== undefined && { protocol: protocol as NonNullable<PutConnectionRequest['protocol']> }),
  };
  return Object.keys(given).length > 0 ? given : undefined;
}

/** The text of the file is not shown, since headers are secrets. @throws CommandError */
export async function readObject(
  file: string,
  example = '{ "url": "https://…", "headers": { "X-Tenant": "a" } }',
): Promise<object> {
  const text = await readFile(file, 'utf8').catch(() => {
    throw misuse(`${plain(file)} cannot be read`, 'Check its path and that you may read it.');
  });
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Not JSON either.
  }
  throw misuse(`${plain(file)} is not a JSON object`, `It looks like ${example}.`);
}

const reachedText = ({ id, name, provider }: Agent, connection: Connection | undefined): string => {
  const agent = `agent "${plain(name ?? id, 120)}"`;
  if (!connection) return `${agent}, which has no address yet: vat agent connect --agent ${id} --address URL`;
  const { protocol, url, headers, options } = connection;
  const namesOf = (what: string, fields: object) => {
    const names = Object.keys(fields).map((name) => plain(name));
    return names.length > 0 ? `, ${what}: ${names.join(', ')}` : '';
  };
  const address = url === null ? `the address of ${provider}` : plain(url, 1_000);
  return `${agent}: ${protocol}, ${address}${namesOf('headers', headers)}${namesOf('options', options)}`;
};

const KEY_CURE = 'Set it to the key of the agent, or VAT_PROVIDER_KEY_FILE to a file that contains the key.';
