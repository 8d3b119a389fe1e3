import { Injectable } from '@nestjs/common';
import type { EvaluationInput } from '../../../libs/evaluation-definition/index.js';
import type { Caller } from '../../platform/access/caller.js';
import type { AgentDescription } from '../agents/agents.service.js';
import { EvaluationsService } from '../evaluations/evaluations.service.js';
import { PersonalitiesService } from '../personalities/personalities.service.js';
import { PersonalityFilesService } from '../personalities/personality-files.service.js';

const KEY = 'production';
const PERSONALITY = 'Real caller';

/** What is measured of every call; nothing of it fails one. */
const REAL_CALLERS: Omit<EvaluationInput, 'personalityId'> = {
  key: KEY,
  name: 'Real callers',
  scenarioText: 'The calls that real callers had. Their caller follows no script.',
  scope: 'production',
  checks: [
    { type: 'max_latency_ms', ms: 4_000, required: false },
    { type: 'max_silence_ms', ms: 10_000, required: false },
    { type: 'no_personal_data', speaker: 'agent', required: false },
  ],
};

/** The evaluation of agents that have none for production calls. */
@Injectable()
export class DefaultEvaluation {
  constructor(
    private readonly evaluations: EvaluationsService,
    private readonly personalities: PersonalitiesService,
    private readonly names: PersonalityFilesService,
  ) {}

  /** In a transaction: creates it, unless there is one for production calls or with its key. @returns on whose behalf */
  async ensure({ id, workspaceId, createdByUserId: userId }: AgentDescription): Promise<Caller> {
    const caller: Caller = { workspaceId, userId, role: 'EDITOR', apiKeyId: 'monitoring', requestsPerMinute: 0 };
    const isThere = await this.evaluations.isThere(id, { scopes: ['production', 'both'], key: KEY });
    if (isThere) return caller;
    await this.evaluations.create(caller, id, { ...REAL_CALLERS, personalityId: await this.personality(caller) });
    return caller;
  }

  /** Evaluations need one, though it plays no part: the agents of a workspace share it. */
  private async personality(caller: Caller): Promise<string> {
    await this.names.lock(caller, [PERSONALITY]);
    const [id] = (await this.names.idsByName(caller, [PERSONALITY])).get(PERSONALITY) ?? [];
    return id ?? (await this.personalities.create(caller, { workspaceId: caller.workspaceId, name: PERSONALITY })).id;
  }
}
