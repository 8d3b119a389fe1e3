import type { Command } from 'commander';
import { CommandError, EXIT, type ExitCode, misuse, RefusedError } from './errors.js';
import { readSecret } from './configuration.js';
import { connect, type Io, lookOf, type ServiceFlags } from './io.js';
import { addOptions, missingOption, SERVICE_OPTIONS } from './options.js';
import type { Assistant, CreateAgentRequest } from './service.js';
import { textTable } from './table.js';
import { plain } from './text.js';

interface ImportFlags extends ServiceFlags {
  readonly provider?: string;
  readonly assistant?: readonly string[];
  readonly dryRun?: boolean;
}

/** Adds `vat agent import`. @param conclude receives the exit code */
export function addAgentImportCommand(program: Command, io: Io, conclude: (code: ExitCode) => void): void {
  const importing = program
    .command('agent')
    .description('agents of the workspace')
    .command('import')
    .description(
      "register the assistants of a provider's account as agents; the key of the account is VAT_PROVIDER_KEY, else the default key of the workspace",
    )
    .option('--provider <provider>', 'provider of the account, such as AGENT_PROVIDER_1 (required)')
    .option('--assistant <id>', 'only this assistant; may be repeated', (id, ids: string[] = []) => [...ids, id])
    .option('--dry-run', 'print what would change without registering anything')
    .action(async ({ provider, ...flags }: ImportFlags) => {
      if (provider === undefined) return missingOption(importing, '--provider <provider>');
      conclude(await importAgents(provider, flags, io));
    });
  addOptions(importing, SERVICE_OPTIONS);
}

/** Registers the assistants that no agent of the provider has yet. @throws CommandError */
async function importAgents(
  provider: string,
  { assistant: chosen, dryRun = false, ...flags }: ImportFlags,
  io: Io,
): Promise<ExitCode> {
  const apiKey = await readSecret('VAT_PROVIDER_KEY', io.env);
  const service = await connect(flags, io);
  const listed = await service.assistants(provider, apiKey).catch((error: unknown) => {
    throw apiKey === undefined ? withKeyHint(error) : error;
  });
  const missing = chosen?.filter((id) => !listed.some(({ assistantId }) => assistantId === id)) ?? [];
  if (missing.length > 0) {
    const which = missing.map((id) => plain(id)).join(', ');
    throw misuse(`The account has no assistant ${which}`, 'Without --assistant, --dry-run lists those that it has.');
  }
  const known = new Set(
    (await service.agents()).filter((agent) => agent.provider === provider).map(({ assistantId }) => assistantId),
  );
  const rows: string[][] = [];
  for (const assistant of listed) {
    if (chosen && !chosen.includes(assistant.assistantId)) continue;
    const isNew = !known.has(assistant.assistantId);
    if (isNew && !dryRun)
      await service.createAgent({
        // The service has listed it, so it is one.
        provider: provider as CreateAgentRequest['provider'],
        ...assistant,
        ...credential(apiKey),
      });
    // A list that changes from page to page may have an assistant twice.
    known.add(assistant.assistantId);
    rows.push([isNew ? (dryRun ? 'would create' : 'created') : 'unchanged', ...shown(assistant)]);
  }
  const columns = [{ title: 'Agent' }, { title: 'Assistant' }, { title: 'Name' }];
  io.stdout.write(`${rows.length > 0 ? textTable(columns, rows, lookOf(io)) : 'The account has no assistants.'}\n`);
  return EXIT.met;
}

/** Without a key of its own, a request is refused if the workspace has no default key, or its user may not use that. */
function withKeyHint(error: unknown): unknown {
  if (!(error instanceof RefusedError) || ![400, 403].includes(error.status)) return error;
  const cure = 'Set VAT_PROVIDER_KEY to the key of the account, or VAT_PROVIDER_KEY_FILE to a file that contains it.';
  return new CommandError(error.exitCode, error.message, error.details, cure);
}

const credential = (apiKey: string | undefined) => (apiKey === undefined ? { isUsingDefaultApiKey: true } : { apiKey });

const shown = ({ assistantId, name }: Assistant): string[] => [plain(assistantId, 255), plain(name ?? '–', 120)];
