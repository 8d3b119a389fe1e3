import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/access/caller.js';
import type { Plan } from '../../platform/config/plans.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { notFound } from '../../platform/errors/domain-error.js';
import type { UpdateWorkspaceRequest, Workspace } from './dto/workspace.dtos.js';
import { UserEntity } from './user.entity.js';
import { WorkspaceEntity } from './workspace.entity.js';
import { WorkspacesRepository } from './workspaces.repository.js';

export interface NewWorkspace {
  readonly name: string;
  readonly plan?: Plan | undefined;
  readonly requestsPerMinute?: number | undefined;
}

/** Workspaces and their members. */
@Injectable()
export class WorkspacesService {
  constructor(
    private readonly database: Database,
    private readonly repository: WorkspacesRepository,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** Creates a workspace with an owner. */
  async create(input: NewWorkspace): Promise<{ workspace: WorkspaceEntity; owner: UserEntity }> {
    return this.database.transaction(async (manager) => {
      const workspace = await manager.save(
        manager.create(WorkspaceEntity, {
          id: randomUUID(),
          name: input.name,
          plan: input.plan ?? this.settings.defaultPlan,
          requestsPerMinute: input.requestsPerMinute ?? null,
          scoreThreshold: null,
        }),
      );
      const owner = await manager.save(
        manager.create(UserEntity, { id: randomUUID(), workspaceId: workspace.id, name: 'Owner' }),
      );
      return { workspace, owner };
    });
  }

  async list(): Promise<WorkspaceEntity[]> {
    return this.database.manager.find(WorkspaceEntity, { order: { createdAt: 'ASC', id: 'ASC' } });
  }

  /** Whether there is no workspace. Prevents others from creating one until the transaction ends. */
  async lockIfEmpty(): Promise<boolean> {
    await this.repository.lockTable();
    return !(await this.database.manager.existsBy(WorkspaceEntity, {}));
  }

  /** @throws DomainError NOT_FOUND */
  async get(id: string): Promise<WorkspaceEntity> {
    const workspace = await this.database.manager.findOneBy(WorkspaceEntity, { id });
    if (!workspace) throw notFound();
    return workspace;
  }

  /**
   * The first member, who owns keys created by the administrator.
   * @throws DomainError NOT_FOUND
   */
  async owner(workspaceId: string): Promise<UserEntity> {
    const [owner] = await this.database.manager.find(UserEntity, {
      where: { workspaceId },
      order: { createdAt: 'ASC' },
      take: 1,
    });
    if (!owner) throw notFound();
    return owner;
  }

  /**
   * Changes the plan and, if given, the rate limit that overrides it (null removes it).
   * @throws DomainError NOT_FOUND
   */
  async setPlan(id: string, plan: Plan, requestsPerMinute?: number | null): Promise<WorkspaceEntity> {
    const workspace = await this.get(id);
    workspace.plan = plan;
    if (requestsPerMinute !== undefined) workspace.requestsPerMinute = requestsPerMinute;
    return this.database.manager.save(workspace);
  }

  /** The caller's own workspace. */
  async read(caller: Caller): Promise<Workspace> {
    return this.toResponse(await this.get(caller.workspaceId));
  }

  async update(caller: Caller, changes: UpdateWorkspaceRequest): Promise<Workspace> {
    return this.database.transaction(async (manager) => {
      const where = { id: caller.workspaceId };
      const workspace = await manager.findOneOrFail(WorkspaceEntity, { where, lock: { mode: 'pessimistic_write' } });
      manager.merge(WorkspaceEntity, workspace, changes);
      return this.toResponse(await manager.save(workspace));
    });
  }

  /** Serialises changes to the settings of a workspace until the transaction ends. */
  async lock(workspaceId: string): Promise<void> {
    const where = { id: workspaceId };
    await this.database.manager.findOneOrFail(WorkspaceEntity, { where, lock: { mode: 'pessimistic_write' } });
  }

  private toResponse(workspace: WorkspaceEntity): Workspace {
    return {
      id: workspace.id,
      name: workspace.name,
      plan: workspace.plan,
      requestsPerMinute: workspace.requestsPerMinute ?? this.settings.planLimits[workspace.plan],
      scoreThreshold: workspace.scoreThreshold,
      createdAt: workspace.createdAt.toISOString(),
      updatedAt: workspace.updatedAt.toISOString(),
    };
  }
}
