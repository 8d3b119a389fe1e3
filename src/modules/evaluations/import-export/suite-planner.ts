import { setImmediate } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import {
  type AuthoredEvaluation,
  type AuthoredPersonality,
  callLanguage,
  dateOrigin,
  withExpectations,
} from '../../../../libs/evaluation-definition/index.js';
import {
  cures,
  type Equipment,
  evaluationWarnings,
  explanationOf,
  misfits,
  PERSONALITY_DELETED,
  type PlannedEvaluation,
  platformWarnings,
} from '../../../../libs/run-plan/index.js';
import type { Medium } from '../../../../libs/simulation/index.js';
import { SETTINGS } from '../../../platform/config/settings.module.js';
import type { Settings } from '../../../platform/config/settings.js';
import { DomainError } from '../../../platform/errors/domain-error.js';
import type { AgentDescription } from '../../agents/agents.service.js';
import { ConnectionService, type PlannedConnection } from '../../agents/connection/connection.service.js';
import { PersonalitiesService } from '../../personalities/personalities.service.js';
import type { Misfit, SuiteEvaluation, SuitePlan } from '../dto/import.response.js';
import type { Content, Match } from './import-export.repository.js';
import type { FilePersonalities } from './personality-import.js';

type Personality = PlannedEvaluation['snapshot']['personality'];

interface Item extends PlannedEvaluation {
  readonly key: string;
  readonly snapshot: PlannedEvaluation['snapshot'] & Pick<AuthoredEvaluation, 'critical' | 'tags'>;
  readonly hasPersonality: boolean;
  /** Whether runs have it: those of production calls alone are left out. */
  readonly isTest: boolean;
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
    file: FilePersonalities,
    matches: ReadonlyMap<string, Match>,
  ): Promise<SuitePlan> {
    const personalities = await this.personalitiesOf(contents, file);
    const choice = await this.choose(agent, medium);
    const { languageModel, speechServers } = this.settings;
    const engines = { hasModel: languageModel !== undefined, speechServers };
    const items: Item[] = [];
    const unfit: Misfit[] = [];
    const evaluations: SuiteEvaluation[] = [];
    for (const content of contents) {
      const batch = itemsOf(content, agent.language, personalities);
      const misfitOf =
        'refusal' in choice ? () => ({ reason: choice.refusal }) : misfitsOf(batch, { ...choice, ...engines });
      batch.forEach((item, index) => {
        if (!item.isTest) return;
        const misfit = misfitOf(index);
        if (misfit) unfit.push({ index: items.length + index, key: item.key, ...misfit });
        evaluations.push(described(item, matches.get(item.key)?.provisional ?? false));
      });
      items.push(...batch);
      // Other requests are served between the batches of a large file.
      await setImmediate();
    }
    const tests = items.filter(({ isTest }) => isTest);
    if ('refusal' in choice) return { misfits: unfit, warnings: [], evaluations };
    const ofPlatform = platformWarnings({
      ...{ protocol: choice.protocol, prompt: agent.prompt, isBeforeRun: true, assistantVersion: null },
      connectionOptions: await this.connections.optionsOf(agent.id),
      scheme: choice.scheme,
      variables: tests.map(({ snapshot }) => Object.keys(snapshot.definition.agentVariables)),
    });
    const warnings = [...evaluationWarnings(tests, { ...choice, ...engines }), ...ofPlatform];
    return { misfits: unfit, warnings, evaluations };
  }

  private async choose(
    agent: AgentDescription,
    medium: Medium | null,
  ): Promise<PlannedConnection | { refusal: string }> {
    try {
      return await this.connections.choose(agent, medium);
    } catch (error) {
      if (error instanceof DomainError && error.code === 'CONFLICT') return { refusal: error.message };
      throw error;
    }
  }

  /** The personalities of the evaluations by their ids, as the import would leave them. */
  private async personalitiesOf(contents: readonly Content[], file: FilePersonalities) {
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
    return personalities;
  }
}

/** Why an item, by its index, could not be run, and what would help; undefined if it can. */
function misfitsOf(items: readonly Item[], equipment: Equipment) {
  const reasons = new Map(misfits(items, equipment).map(({ index, reason }) => [index, reason]));
  return (index: number): Pick<Misfit, 'reason' | 'cures'> | undefined => {
    if (items[index]?.hasPersonality === false) return { reason: PERSONALITY_DELETED };
    const reason = reasons.get(index);
    if (reason === undefined) return undefined;
    const helps = cures(items.slice(index, index + 1), equipment);
    return { reason, ...(helps.length > 0 && { cures: helps }) };
  };
}

function itemsOf(
  { json, personalityIds }: Content,
  agentLanguage: string | null,
  personalities: ReadonlyMap<string, Personality>,
): Item[] {
  return (JSON.parse(json) as AuthoredEvaluation[]).map((evaluation, index) => {
    const { key, name, critical, tags, variables, timezone, scope, ...definition } = evaluation;
    const language = callLanguage(definition.language, agentLanguage);
    const personality = personalities.get(personalityIds[index] ?? '');
    return {
      key: key ?? '',
      snapshot: {
        name,
        critical,
        tags,
        language,
        dates: dateOrigin(timezone, language),
        personality: personality ?? { id: '', name: '' },
        definition: withExpectations(definition),
      },
      cases: (variables.length > 0 ? variables : [null]).map((row) => ({ variables: row })),
      hasPersonality: personality !== undefined,
      isTest: scope !== 'production',
    };
  });
}

const described = ({ key, snapshot, cases }: Item, provisional: boolean): SuiteEvaluation => ({
  key,
  name: snapshot.name,
  critical: snapshot.critical,
  provisional,
  tags: [...snapshot.tags],
  caller: snapshot.definition.script.length > 0 ? 'scripted' : 'generated',
  cases: cases.length,
  explanation: explanationOf({ snapshot, cases }),
});
