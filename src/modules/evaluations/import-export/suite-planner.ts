import { Inject, Injectable } from '@nestjs/common';
import {
  type AuthoredEvaluation,
  type AuthoredPersonality,
  callLanguage,
} from '../../../../libs/evaluation-definition/index.js';
import {
  evaluationWarnings,
  explanationOf,
  misfits,
  PERSONALITY_DELETED,
  type PlannedEvaluation,
} from '../../../../libs/run-plan/index.js';
import type { Medium } from '../../../../libs/simulation/index.js';
import { SETTINGS } from '../../../platform/config/settings.module.js';
import type { Settings } from '../../../platform/config/settings.js';
import { DomainError } from '../../../platform/errors/domain-error.js';
import type { AgentDescription } from '../../agents/agents.service.js';
import { ConnectionService, type ProtocolChoice } from '../../agents/connection/connection.service.js';
import { PersonalitiesService } from '../../personalities/personalities.service.js';
import type { Misfit, SuitePlan } from '../dto/import.response.js';
import type { Content } from './import-export.repository.js';
import type { FilePersonalities } from './personality-import.js';

type Personality = PlannedEvaluation['snapshot']['personality'];

interface Item extends PlannedEvaluation {
  readonly key: string;
  readonly snapshot: PlannedEvaluation['snapshot'] & Pick<AuthoredEvaluation, 'critical' | 'tags'>;
  readonly hasPersonality: boolean;
}

/** Says what a run of a file's evaluations would do, before they are stored. */
@Injectable()
export class SuitePlanner {
  constructor(
    private readonly connections: ConnectionService,
    private readonly personalities: PersonalitiesService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** @param medium of the run; null: that of the agent's protocol */
  async plan(
    agent: AgentDescription,
    medium: Medium | null,
    contents: readonly Content[],
    personalities: FilePersonalities,
  ): Promise<SuitePlan> {
    const items = await this.items(agent, contents, personalities);
    const evaluations = items.map(({ key, snapshot, cases }) => ({
      key,
      name: snapshot.name,
      critical: snapshot.critical,
      tags: [...snapshot.tags],
      caller: snapshot.definition.script.length > 0 ? ('scripted' as const) : ('generated' as const),
      cases: cases.length,
      explanation: explanationOf({ snapshot }),
    }));
    const all = (reason: string): Misfit[] => items.map(({ key }, index) => ({ index, key, reason }));
    const choice = await this.choose(agent, medium);
    if ('refusal' in choice) return { misfits: all(choice.refusal), warnings: [], evaluations };
    const equipment = { protocol: choice.protocol, hasModel: this.settings.languageModel !== undefined };
    const reasons = new Map(misfits(items, equipment).map(({ index, reason }) => [index, reason]));
    return {
      misfits: items.flatMap(({ key, hasPersonality }, index) => {
        const reason = hasPersonality ? reasons.get(index) : PERSONALITY_DELETED;
        return reason === undefined ? [] : [{ index, key, reason }];
      }),
      warnings: evaluationWarnings(items, equipment),
      evaluations,
    };
  }

  private async choose(agent: AgentDescription, medium: Medium | null): Promise<ProtocolChoice | { refusal: string }> {
    try {
      return await this.connections.choose(agent, medium);
    } catch (error) {
      if (error instanceof DomainError && error.code === 'CONFLICT') return { refusal: error.message };
      throw error;
    }
  }

  private async items(
    { language }: AgentDescription,
    contents: readonly Content[],
    file: FilePersonalities,
  ): Promise<Item[]> {
    const personalities = new Map<string, Personality>(
      await this.personalities.describe([...new Set(contents.flatMap(({ personalityIds }) => personalityIds))]),
    );
    for (const { json, ids } of file.batches) {
      const authored = JSON.parse(json) as AuthoredPersonality[];
      authored.forEach(({ name, ...voice }, index) => {
        const id = ids[index] ?? '';
        personalities.set(id, { id, name, voice });
      });
    }
    const items: Item[] = [];
    for (const { json, personalityIds } of contents) {
      const authored = JSON.parse(json) as AuthoredEvaluation[];
      authored.forEach((evaluation, index) => {
        const personality = personalities.get(personalityIds[index] ?? '');
        items.push(itemOf(evaluation, language, personality));
      });
    }
    return items;
  }
}

function itemOf(
  { key, name, critical, tags, language: own, variables, ...definition }: AuthoredEvaluation,
  language: string | null,
  personality: Personality | undefined,
): Item {
  return {
    key: key ?? '',
    snapshot: {
      name,
      critical,
      tags,
      language: callLanguage(own, language),
      personality: personality ?? { id: '', name: '' },
      definition,
    },
    cases: (variables.length > 0 ? variables : [null]).map((row) => ({ variables: row })),
    hasPersonality: personality !== undefined,
  };
}
