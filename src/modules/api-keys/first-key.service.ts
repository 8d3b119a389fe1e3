import { Inject, Injectable } from '@nestjs/common';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { type NewWorkspace, WorkspacesService } from '../workspaces/workspaces.service.js';
import { ApiKeysService } from './api-keys.service.js';

export interface FirstKey {
  readonly workspaceId: string;
  readonly userId: string;
  /** Shown once. */
  readonly apiKey: string;
}

/** Creates workspaces with an owner and an ADMIN key. */
@Injectable()
export class FirstKeyService {
  constructor(
    private readonly database: Database,
    private readonly workspaces: WorkspacesService,
    private readonly apiKeys: ApiKeysService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** A workspace with an owner and an ADMIN key. */
  async createWorkspace(input: NewWorkspace, value?: string): Promise<FirstKey> {
    return this.database.transaction(async () => {
      const { workspace, owner } = await this.workspaces.create(input);
      const key = await this.apiKeys.create({
        workspaceId: workspace.id,
        userId: owner.id,
        name: 'First key',
        role: 'ADMIN',
        value,
      });
      return { workspaceId: workspace.id, userId: owner.id, apiKey: key.value };
    });
  }

  /**
   * Creates the first workspace of an empty database.
   * @param value the key to use instead of a generated one
   * @param keep stores the key before the transaction is committed; if it fails, nothing is created
   * @returns undefined if there is a workspace already
   */
  async bootstrap(
    value: string | undefined,
    keep: (key: FirstKey) => Promise<void> = async () => {},
  ): Promise<FirstKey | undefined> {
    return this.database.transaction(async () => {
      // If several processes start on an empty database, one creates the workspace and the others wait for it.
      if (!(await this.workspaces.lockIfEmpty())) return undefined;
      const key = await this.createWorkspace({ name: 'Default', plan: this.settings.firstPlan }, value);
      await keep(key);
      return key;
    });
  }
}
