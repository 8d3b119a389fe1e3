import type { Command } from 'commander';
import { CommandError, EXIT, type ExitCode, misuse, RefusedError } from './errors.js';
import { readSecret } from './configuration.js';
import { connect, type Io, lookOf, type ServiceFlags } from './io.js';
import { addOptions, missingOption, SERVICE_OPTIONS } from './options.js';
import type { Assistant, CreateAgentRequest, ListAssistantsRequest, Service } from './service.js';
import { textTable } from './table.js';
import { plain } from './text.js';

interface ImportFlags extends ServiceFlags {
  readonly provider?: string;
  readonly assistant?: readonly string[];
  readonly dryRun?: boolean;
  readonly platform?: string;
  readonly address?: string;
}

/** Provider of the agents of a platform that needs no setting. */
const PROVIDER = 'AGENT_PROVIDER_1';

/** Adds `vat agent import`. @param conclude receives the exit code */
export function addAgentImportCommand(agent: Command, io: Io, conclude: (code: ExitCode) => void): void {
  const importing = agent
    .command('import')
    .description(
      "register the assistants of a provider's account as agents; the key of the account is VAT_PROVIDER_KEY, else the default key of the workspace",
    )
    .option('--platform <protocol>', 'protocol of the account, such as vapi; also connects the agents by it')
    .option('--address <url>', "base of the platform's API, if it is not that of the vendor; requires --platform")
    .option(
      '--provider <provider>',
      `provider of the account; required without --platform, which defaults to ${PROVIDER}`,
    )
    .option('--assistant <id>', 'only this assistant; may be repeated', (id, ids: string[] = []) => [...ids, id])
    .option('--dry-run', 'print what would change without registering anything')
    .action(async (flags: ImportFlags) => {
      if (flags.platform === undefined && flags.address !== undefined)
        missingOption(importing, '--platform <protocol>');
      const provider = flags.provider ?? (flags.platform === undefined ? undefined : PROVIDER);
      if (provider === undefined) return missingOption(importing, '--platform <protocol>');
      conclude(await importAgents(provider, flags, io));
    });
  addOptions(importing, SERVICE_OPTIONS);
}

/** Registers the assistants that no agent of the provider has yet; with a platform, connects those without a connection. @throws CommandError */
async function importAgents(
  provider: string,
  { assistant: chosen, dryRun = false, platform, address, ...flags }: ImportFlags,
  io: Io,
): Promise<ExitCode> {
  const apiKey = await readSecret('VAT_PROVIDER_KEY', io.env);
  const service = await connect(flags, io);
  const connection = {
    // The service says which there are.
    ...(platform !== undefined && { protocol: platform as NonNullable<ListAssistantsRequest['protocol']> }),
    ...(address !== undefined && { url: address }),
  };
  const account = { ...(apiKey !== undefined && { apiKey }), ...connection };
  const listed = await service.assistants(provider, account).catch((error: unknown) => {
    throw apiKey === undefined ? withKeyHint(error) : error;
  });
  const missing = chosen?.filter((id) => !listed.some(({ assistantId }) => assistantId === id)) ?? [];
  if (missing.length > 0) {
    const which = missing.map((id) => plain(id)).join(', ');
    throw misuse(`The account has no assistant ${which}`, 'Without --assistant, --dry-run lists those that it has.');
  }
  const ids = new Map(
    (await service.agents()).flatMap((one) => (one.provider === provider ? [[one.assistantId, one.id] as const] : [])),
  );
  const rows: string[][] = [];
  // A list that changes from page to page may have an assistant twice.
  const all = new Map(listed.map((assistant) => [assistant.assistantId, assistant]));
  for (const assistant of all.values()) {
    if (chosen && !chosen.includes(assistant.assistantId)) continue;
    const known = ids.get(assistant.assistantId);
    const isMissing = platform !== undefined && (known === undefined || !(await isConnected(service, known)));
    if (!dryRun) {
      // The service has listed it, so it is one.
      const body = { provider: provider as CreateAgentRequest['provider'], ...assistant, ...credential(apiKey) };
      const id = known ?? (await service.createAgent(body)).id;
      if (isMissing) await service.putConnection(id, connection);
    }
    const [would, done] = known === undefined ? ['would create', 'created'] : ['would connect', 'connected'];
    const isChanged = known === undefined || isMissing;
    rows.push([isChanged ? (dryRun ? would : done) : 'unchanged', ...shown(assistant)]);
  }
  const columns = [{ title: 'Agent' }, { title: 'Assistant' }, { title: 'Name' }];
  io.stdout.write(`${rows.length > 0 ? textTable(columns, rows, lookOf(io)) : 'The account has no assistants.'}\n`);
  return EXIT.met;
}

/** Whether an agent has a connection of its own. */
const isConnected = async (service: Service, id: string): Promise<boolean> =>
  (await service.connection(id))?.source === 'agent';

/** Without a key of its own, a request is refused if the workspace has no default key, or its user may not use that. */
function withKeyHint(error: unknown): unknown {
  if (!(error instanceof RefusedError) || ![400, 403].includes(error.status)) return error;
  const cure = 'Set VAT_PROVIDER_KEY to the key of the account, or VAT_PROVIDER_KEY_FILE to a file that contains it.';
  return new CommandError(error.exitCode, error.message, error.details, cure);
}

const credential = (apiKey: string | undefined) => (apiKey === undefined ? { isUsingDefaultApiKey: true } : { apiKey });

const shown = ({ assistantId, name }: Assistant): string[] => [plain(assistantId, 255), plain(name ?? '–', 120)];
