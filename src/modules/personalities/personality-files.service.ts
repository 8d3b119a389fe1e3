import { Injectable } from '@nestjs/common';
import { type AuthoredPersonality, authoredPersonality } from '../../../libs/evaluation-definition/index.js';
import type { Caller } from '../../platform/access/caller.js';
import { type PersonalityBatch, PersonalityFilesRepository } from './personality-files.repository.js';

/** Personalities in files of evaluations, where their names identify them. */
@Injectable()
export class PersonalityFilesService {
  constructor(private readonly repository: PersonalityFilesRepository) {}

  /** Until the transaction ends, no other import creates or changes personalities of the workspace. */
  async lock(caller: Caller, names: readonly string[]): Promise<void> {
    await this.repository.lock(caller.workspaceId, names);
  }

  /** Ids of the workspace's personalities by exact name, without deleted ones; several personalities may share a name. */
  async idsByName(caller: Caller, names: readonly string[]): Promise<Map<string, string[]>> {
    const ids = new Map<string, string[]>();
    for (const { id, name } of await this.repository.named(caller.workspaceId, names)) {
      ids.set(name, [...(ids.get(name) ?? []), id]);
    }
    return ids;
  }

  /** The first names of the workspace's personalities in their order. */
  someNames(caller: Caller, limit: number): Promise<string[]> {
    return this.repository.someNames(caller.workspaceId, limit);
  }

  /** The names that identify these personalities: not those of deleted ones, nor names that several share. */
  async identifyingNames(caller: Caller, ids: readonly string[]): Promise<Map<string, string>> {
    const found = await this.repository.names(caller.workspaceId, ids);
    return new Map(found.flatMap(({ id, name, isUnique }) => (isUnique ? [[id, name]] : [])));
  }

  /** The editable fields of personalities, in the order of the ids. */
  async contents(ids: readonly string[]): Promise<AuthoredPersonality[]> {
    const found = new Map((await this.repository.read(ids)).map((row) => [row.id, row]));
    return ids.flatMap((id) => found.get(id) ?? []).map(authoredPersonality);
  }

  /** Ids of personalities that are stored with different content. */
  changed(batch: PersonalityBatch): Promise<string[]> {
    return this.repository.changed(batch);
  }

  insert(caller: Caller, batch: PersonalityBatch): Promise<void> {
    return this.repository.insert(batch, caller);
  }

  update(batch: PersonalityBatch): Promise<void> {
    return this.repository.update(batch);
  }
}
