import { Command, InvalidArgumentError, Option } from 'commander';
import { type Role, ROLES } from '../platform/access/caller.js';
import { type Plan, PLANS } from '../platform/config/plans.js';
import { uuidOrNotFound } from '../platform/database/ids.js';
import { codePoints, textViolation } from '../../libs/json-input/index.js';
import { MAX_LENGTH } from '../platform/http/dto/fields.js';
import type { WithAdmin } from './admin.module.js';
import { printTable } from './print.js';
import { addSecretCommands } from './secret-commands.js';

const MAX_RATE = 1_000_000_000;

/** The administrator's command line. Results go to standard output, everything else to standard error. */
export function adminProgram(withAdmin: WithAdmin): Command {
  const program = new Command('admin')
    .description('Manage workspaces, plans and API keys, whether or not the service is running.')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true });
  addWorkspaceCommands(program.command('workspace').description('Workspaces and their plans'), withAdmin);
  addKeyCommands(program.command('key').description('API keys'), withAdmin);
  addSecretCommands(program.command('secrets').description('Secrets at rest'), withAdmin);
  return program;
}

function addWorkspaceCommands(command: Command, withAdmin: WithAdmin): void {
  command
    .command('create')
    .description('Creates a workspace with an owner and an ADMIN key, which is shown only once')
    .requiredOption('--name <name>', 'display name', name)
    .addOption(new Option('--plan <plan>', 'plan (default: DEFAULT_PLAN)').choices(PLANS))
    .option('--rate-limit <n>', "requests per minute, instead of the plan's", rate)
    .option('--json', 'print only a JSON object')
    .action((options: { name: string; plan?: Plan; rateLimit?: number; json?: boolean }) =>
      withAdmin(async ({ firstKeys }) => {
        const made = await firstKeys.createWorkspace({
          name: options.name,
          plan: options.plan,
          requestsPerMinute: options.rateLimit,
        });
        const { workspaceId, userId, apiKey } = made;
        if (options.json) return printJson({ workspaceId, userId, apiKey });
        print(`Workspace ${workspaceId}\nUser      ${userId}\nAPI key   ${apiKey}  (shown only once)`);
      }),
    );

  command
    .command('list')
    .description('Lists all workspaces')
    .option('--json', 'print only a JSON array')
    .action((options: { json?: boolean }) =>
      withAdmin(async ({ workspaces, planRates }) => {
        const rates = await planRates.read();
        const rows = (await workspaces.list()).map((workspace) => ({
          id: workspace.id,
          name: workspace.name,
          plan: workspace.plan,
          requestsPerMinute: workspace.requestsPerMinute ?? rates[workspace.plan],
          createdAt: workspace.createdAt.toISOString(),
        }));
        if (options.json) return printJson(rows);
        printTable(rows);
      }),
    );

  command
    .command('set-plan')
    .description('Changes the plan of a workspace, on all processes within a second')
    .argument('<workspaceId>', 'identifier of the workspace')
    .addArgument(command.createArgument('<plan>', 'the new plan').choices(PLANS))
    .option('--rate-limit <n|none>', "requests per minute, instead of the plan's; none removes it", rateOrNone)
    .option('--json', 'print only a JSON object')
    .action((workspaceId: string, plan: Plan, options: { rateLimit?: number | 'none'; json?: boolean }) =>
      withAdmin(async ({ workspaces, planRates }) => {
        const override = options.rateLimit === 'none' ? null : options.rateLimit;
        const changed = await workspaces.setPlan(uuidOrNotFound(workspaceId), plan, override);
        const requestsPerMinute = changed.requestsPerMinute ?? (await planRates.read())[plan];
        if (options.json) return printJson({ workspaceId: changed.id, plan, requestsPerMinute });
        print(`Workspace ${changed.id} is on the plan ${plan}, ${requestsPerMinute} requests per minute`);
      }),
    );
}

function addKeyCommands(command: Command, withAdmin: WithAdmin): void {
  command
    .command('create')
    .description("Creates an API key for a workspace's owner; its value is shown only once")
    .requiredOption('--workspace <id>', 'identifier of the workspace')
    .requiredOption('--name <name>', 'display name', name)
    .addOption(new Option('--role <role>', 'permissions of the key').choices(ROLES).default('EDITOR'))
    .option('--json', 'print only a JSON object')
    .action((options: { workspace: string; name: string; role: Role; json?: boolean }) =>
      withAdmin(async ({ workspaces, apiKeys }) => {
        const owner = await workspaces.owner(uuidOrNotFound(options.workspace));
        const { apiKey, value } = await apiKeys.create({
          workspaceId: owner.workspaceId,
          userId: owner.id,
          name: options.name,
          role: options.role,
        });
        if (options.json) return printJson({ id: apiKey.id, name: apiKey.name, role: apiKey.role, apiKey: value });
        print(`Key     ${apiKey.id} (${apiKey.role})\nAPI key ${value}  (shown only once)`);
      }),
    );

  command
    .command('list')
    .description('Lists the API keys of a workspace, without their values')
    .requiredOption('--workspace <id>', 'identifier of the workspace')
    .option('--json', 'print only a JSON array')
    .action((options: { workspace: string; json?: boolean }) =>
      withAdmin(async ({ workspaces, apiKeys }) => {
        const { id } = await workspaces.get(uuidOrNotFound(options.workspace));
        const rows = (await apiKeys.list(id)).map((key) => ({
          id: key.id,
          name: key.name,
          role: key.role,
          prefix: key.prefix,
          lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
          expiresAt: key.expiresAt?.toISOString() ?? null,
          revokedAt: key.revokedAt?.toISOString() ?? null,
          createdAt: key.createdAt.toISOString(),
        }));
        if (options.json) return printJson(rows);
        printTable(rows);
      }),
    );

  command
    .command('revoke')
    .description('Revokes an API key, on all processes within a second')
    .argument('<keyId>', 'identifier of the key, as `key list` shows it')
    .action((keyId: string) =>
      withAdmin(async ({ apiKeys }) => {
        await apiKeys.revoke(uuidOrNotFound(keyId));
        print(`Key ${keyId} is revoked`);
      }),
    );
}

function name(text: string): string {
  const violation = text.trim() === '' ? 'must not be empty' : textViolation(text);
  if (violation) throw new InvalidArgumentError(`The name ${violation}.`);
  if (codePoints(text) > MAX_LENGTH.name)
    throw new InvalidArgumentError(`The name must have at most ${MAX_LENGTH.name} characters.`);
  return text;
}

function rate(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > MAX_RATE) {
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_RATE}.`);
  }
  return value;
}

// Not null: commander replaces null by an empty string.
const rateOrNone = (text: string): number | 'none' => (text === 'none' ? text : rate(text));

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const printJson = (value: unknown): void => print(JSON.stringify(value));
