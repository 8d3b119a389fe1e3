import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { In, IsNull } from 'typeorm';
import type { Caller } from '../../platform/access/caller.js';
import { requireOwned, requireOwnWorkspace } from '../../platform/access/ownership.js';
import { Database } from '../../platform/database/database.js';
import { notFound } from '../../platform/errors/domain-error.js';
import { uuidOrNotFound } from '../../platform/database/ids.js';
import { listPage, type Page, type PageRequest } from '../../platform/database/page.js';
import type { CreatePersonalityRequest, UpdatePersonalityRequest } from './dto/personality.requests.js';
import type { Personality } from './dto/personality.response.js';
import { PersonalitiesRepository } from './personalities.repository.js';
import { PersonalityEntity } from './personality.entity.js';

const DEFAULT_VOICE = { gender: 'FEMALE', provider: 'PERSONALITY_PROVIDER_1' } as const;

/** The fields of a personality that the simulated caller uses. */
export type PersonalityDescription = Pick<
  PersonalityEntity,
  'id' | 'name' | 'description' | 'prompt' | 'temperature'
> & {
  /** What voice calls use. */
  readonly voice: Pick<PersonalityEntity, 'gender' | 'accent' | 'provider' | 'backgroundNoise' | 'interrupts'> & {
    readonly voice_id: string;
  };
};

/** The personalities of a workspace. */
@Injectable()
export class PersonalitiesService {
  constructor(
    private readonly database: Database,
    private readonly repository: PersonalitiesRepository,
  ) {}

  /** @throws DomainError FORBIDDEN for another workspace's id */
  async create(caller: Caller, input: CreatePersonalityRequest): Promise<Personality> {
    requireOwnWorkspace(caller, input.workspaceId);
    const { manager } = this.database;
    const personality = await manager.save(
      manager.create(PersonalityEntity, {
        id: randomUUID(),
        workspaceId: caller.workspaceId,
        createdByUserId: caller.userId,
        name: input.name,
        description: input.description ?? '',
        prompt: input.prompt ?? '',
        temperature: input.temperature ?? 0.7,
        accent: input.accent ?? '',
        backgroundNoise: input.backgroundNoise ?? false,
        gender: input.gender ?? DEFAULT_VOICE.gender,
        provider: input.provider ?? DEFAULT_VOICE.provider,
        voiceId: input.voice_id ?? '',
        interrupts: input.interrupts ?? 'never',
        deletedAt: null,
      }),
    );
    return toResponse(personality);
  }

  async list(caller: Caller, query: PageRequest): Promise<Page<Personality>> {
    return listPage(query, toResponse, (rows) => this.repository.page(caller.workspaceId, rows));
  }

  /** @throws DomainError NOT_FOUND, or FORBIDDEN for a personality of another workspace */
  async get(caller: Caller, id: string): Promise<Personality> {
    return toResponse(requireOwned(caller, await this.repository.find(uuidOrNotFound(id))));
  }

  /** Personalities by id; deleted ones are omitted. */
  async describe(ids: readonly string[]): Promise<ReadonlyMap<string, PersonalityDescription>> {
    const rows = await this.database.manager.findBy(PersonalityEntity, { id: In([...ids]), deletedAt: IsNull() });
    return new Map(
      rows.map(({ id, name, description, prompt, temperature, voiceId, ...row }) => {
        const { gender, accent, provider, backgroundNoise, interrupts } = row;
        const voice = { gender, accent, voice_id: voiceId, provider, backgroundNoise, interrupts };
        return [id, { id, name, description, prompt, temperature, voice }];
      }),
    );
  }

  /** The ids that do not exist (`unknown`), and those that belong to another workspace (`foreign`). */
  async unusable(caller: Caller, ids: readonly string[]): Promise<{ unknown: Set<string>; foreign: Set<string> }> {
    const found = await this.repository.owners(ids);
    const owners = new Map(found.map(({ id, workspaceId }) => [id, workspaceId]));
    return {
      unknown: new Set(ids.filter((id) => !owners.has(id))),
      foreign: new Set(found.filter((row) => row.workspaceId !== caller.workspaceId).map(({ id }) => id)),
    };
  }

  /** @throws DomainError as `get` does */
  async update(
    caller: Caller,
    id: string,
    { voice_id: voiceId, ...changes }: UpdatePersonalityRequest,
  ): Promise<Personality> {
    return this.database.transaction(async (manager) => {
      const where = { id: uuidOrNotFound(id), deletedAt: IsNull() };
      const found = await manager.findOne(PersonalityEntity, { where, lock: { mode: 'pessimistic_write' } });
      const personality = requireOwned(caller, found);
      manager.merge(PersonalityEntity, personality, { ...changes, ...(voiceId !== undefined && { voiceId }) });
      return toResponse(await manager.save(personality));
    });
  }

  /** Soft delete: evaluations that use it are kept unchanged. @throws DomainError as `get` does */
  async delete(caller: Caller, id: string): Promise<void> {
    const personality = requireOwned(caller, await this.repository.find(uuidOrNotFound(id)));
    if (!(await this.repository.softDelete(personality.id))) throw notFound();
  }
}

function toResponse(row: PersonalityEntity): Personality {
  const createdAt = row.createdAt.toISOString();
  return {
    gender: row.gender,
    provider: row.provider,
    id: row.id,
    createdAt,
    updatedAt: row.updatedAt.toISOString(),
    created_at: createdAt,
    name: row.name,
    description: row.description,
    prompt: row.prompt,
    temperature: row.temperature,
    accent: row.accent,
    backgroundNoise: row.backgroundNoise,
    createdByUserId: row.createdByUserId,
    workspaceId: row.workspaceId,
    voice_id: row.voiceId,
    // The published object has no such field: a personality that does not use it is shown as published.
    ...(row.interrupts !== 'never' && { interrupts: row.interrupts }),
  };
}
