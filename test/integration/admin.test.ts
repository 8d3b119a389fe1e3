import { randomBytes, randomUUID } from 'node:crypto';
import { adminProgram } from '../../src/admin/admin-program.js';
import { openAdmin } from '../../src/admin/admin.module.js';
import { createDataSource } from '../../src/bootstrap/data-source.js';
import { agentSecretPurpose } from '../../src/modules/agents/agent.entity.js';
import { PlanRatesService } from '../../src/modules/workspaces/plan-rates.service.js';
import { WorkspacesService } from '../../src/modules/workspaces/workspaces.service.js';
import { readSettings } from '../../src/platform/config/settings.js';
import { checkCanary } from '../../src/platform/encryption/canary.js';
import { KeyRing } from '../../src/platform/encryption/key-ring.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const key = (id: string) => ({ id, key: randomBytes(32) });
const [k0, k1, k2] = [key('k0'), key('k1'), key('k2')];

describe('the admin command', () => {
  let app: TestApp;
  let owner: { workspaceId: string; userId: string };

  beforeEach(async () => {
    app = await createTestApp({ env: { PLAN_PRO_REQUESTS_PER_MINUTE: '77' } });
    owner = await app.createWorkspace();
  });
  afterEach(() => app.close());

  /** Runs a command with its own settings and keys. @returns what it wrote to standard output */
  async function run(args: string[], keyRing = app.keyRing): Promise<string> {
    let output = '';
    const stdout = jest.spyOn(process.stdout, 'write').mockImplementation((text) => Boolean((output += String(text))));
    const stderr = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    const program = adminProgram(async (work) => {
      const dataSource = await createDataSource(app.databaseUrl, 2).initialize();
      const admin = await openAdmin({ settings: readSettings({}), dataSource, databaseUrl: app.databaseUrl, keyRing });
      await work(admin).finally(() => admin.close());
    });
    try {
      await program.parseAsync(args, { from: 'user' });
      return output;
    } catch (error) {
      throw new Error(`${output}${(error as Error).message}`, { cause: error });
    } finally {
      stdout.mockRestore();
      stderr.mockRestore();
    }
  }

  describe('shows the rates that the service applies, whatever its own settings are', () => {
    const rates = async () => {
      const rows = JSON.parse(await run(['workspace', 'list', '--json'])) as {
        id: string;
        requestsPerMinute: number;
      }[];
      return Object.fromEntries(rows.map(({ id, requestsPerMinute }) => [id, requestsPerMinute]));
    };

    it('in workspace list and workspace set-plan', async () => {
      const workspaces = app.nest.get(WorkspacesService);
      const { workspace: ofPlan } = await workspaces.create({ name: 'A', plan: 'PRO' });
      const { workspace: override } = await workspaces.create({ name: 'B', plan: 'PRO', requestsPerMinute: 5 });
      // Before the first start of the service.
      expect(await rates()).toMatchObject({ [ofPlan.id]: 300, [override.id]: 5 });
      await app.nest.get(PlanRatesService).publish();
      expect(await rates()).toMatchObject({ [ofPlan.id]: 77, [override.id]: 5 });
      expect(await run(['workspace', 'set-plan', override.id, 'PRO', '--rate-limit', 'none'])).toContain(
        'is on the plan PRO, 77 requests per minute',
      );
    });
  });

  describe('secrets re-encrypt', () => {
    /** Stores agents whose keys are encrypted with the first key of a ring. */
    const store = async (keyRing: KeyRing, count: number) => {
      for (let i = 0; i < count; i++) {
        const id = randomUUID();
        await sql(
          app.databaseUrl,
          `INSERT INTO agents (id, workspace_id, created_by_user_id, provider, assistant_id, call_monitoring, api_key)
           VALUES ($1, $2, $3, 'AGENT_PROVIDER_1', 'a', false, $4)`,
          [id, owner.workspaceId, owner.userId, keyRing.encrypt('secret', agentSecretPurpose(id, 'apiKey'))],
        );
      }
    };
    const keyIds = async () => {
      const rows = await sql(
        app.databaseUrl,
        `SELECT DISTINCT split_part(api_key, '.', 1) AS id FROM agents ORDER BY 1`,
      );
      return rows.map(({ id }) => id as string);
    };
    const startsWith = async (...keys: (typeof k1)[]) => {
      const dataSource = await createDataSource(app.databaseUrl, 2).initialize();
      try {
        await checkCanary(dataSource, new KeyRing(keys));
        return true;
      } catch {
        return false;
      } finally {
        await dataSource.destroy();
      }
    };
    const reEncrypt = (...keys: (typeof k1)[]) => run(['secrets', 're-encrypt'], new KeyRing(keys));

    beforeEach(async () => {
      await sql(app.databaseUrl, 'DELETE FROM encryption_canary');
      expect(await startsWith(k1)).toBe(true);
    });

    it('says what it found under which key and which keys can be removed', async () => {
      await store(new KeyRing([k1]), 3);
      await store(new KeyRing([k2]), 1);
      expect(await reEncrypt(k2, k1)).toBe(
        'Found 4 secrets: 1 under k2, 3 under k1\n' +
          'Re-encrypted 3 secrets under k2. Every secret is under k2; these keys can be removed: k1\n',
      );
      expect(await keyIds()).toEqual(['k2']);
      expect(await startsWith(k2)).toBe(true);
    });

    it('refuses to say that a key can be removed if only one is configured', async () => {
      await store(new KeyRing([k1]), 2);
      await expect(reEncrypt(k1)).rejects.toThrow(
        /^Found 2 secrets: 2 under k1\nRe-encrypted 0 secrets under k1\. Do not remove any key: k1 is the only one/,
      );
    });

    it('refuses it while secrets are under a key that is not configured, and leaves those unchanged', async () => {
      await store(new KeyRing([k0]), 1);
      await store(new KeyRing([k1]), 2);
      await expect(reEncrypt(k2, k1)).rejects.toThrow(
        'Found 3 secrets: 1 under k0, 2 under k1\nRe-encrypted 2 secrets under k2. ' +
          'Do not remove any key: 1 secret under k0, which is not configured',
      );
      expect(await keyIds()).toEqual(['k0', 'k2']);
      // The canary still needs the old key, so that no process starts without it.
      expect(await startsWith(k2)).toBe(false);
    });

    it('refuses it for a secret that another process writes with an old key at the same time', async () => {
      await store(new KeyRing([k1]), 2);
      const [first, second] = (await sql(app.databaseUrl, 'SELECT id FROM agents')).map(({ id }) => id as string);
      const ring = new KeyRing([k1]);
      await sql(app.databaseUrl, 'UPDATE agents SET webhook_secret = $1 WHERE id = $2', [
        ring.encrypt('secret', agentSecretPurpose(first!, 'webhookSecret')),
        first,
      ]);
      // When the column `webhook_secret` is re-encrypted, the column `api_key` has been.
      const late = ring.encrypt('late', agentSecretPurpose(second!, 'apiKey'));
      await sql(
        app.databaseUrl,
        `CREATE FUNCTION write_late() RETURNS trigger LANGUAGE plpgsql AS $body$
           BEGIN UPDATE agents SET api_key = '${late}' WHERE id = '${second}'; RETURN NULL; END $body$;
         CREATE TRIGGER write_late AFTER UPDATE OF webhook_secret ON agents EXECUTE FUNCTION write_late()`,
      );
      await expect(reEncrypt(k2, k1)).rejects.toThrow(
        'Do not remove any key: 1 secret under k1 written during this command by a process that still encrypts with it',
      );
      expect(await startsWith(k2)).toBe(false);
    });

    it('refuses it for a value that is not encrypted, without showing it', async () => {
      await store(new KeyRing([k1]), 1);
      await sql(app.databaseUrl, `UPDATE agents SET api_key = 'clear.credential'`);
      const error = await reEncrypt(k2, k1).catch((thrown: unknown) => thrown as Error);
      expect(error).toMatchObject({ message: expect.stringContaining('1 secret not encrypted at all') });
      expect(String(error)).not.toContain('clear');
    });

    it('names a key whose bytes do not decrypt', async () => {
      await store(new KeyRing([k1]), 1);
      await expect(reEncrypt(k2, key('k1'))).rejects.toThrow('The key "k1" does not decrypt a stored secret');
    });
  });
});
