import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { datesFrom, inputViolations, LIMITS, withVariables } from '../../../libs/evaluation-definition/index.js';
import { promote } from '../../../libs/simulation/index.js';
import { clipped } from '../../../libs/text/index.js';
import type { Caller } from '../../platform/access/caller.js';
import { conflict, DomainError } from '../../platform/errors/domain-error.js';
import { AgentsService } from '../agents/agents.service.js';
import { CallsService } from '../calls/calls.service.js';
import type { CallDetails } from '../calls/dto/call.responses.js';
import { EvaluationsService } from '../evaluations/evaluations.service.js';
import { PersonalitiesService } from '../personalities/personalities.service.js';
import type { PromotedEvaluation } from './dto/promoted-evaluation.response.js';

const NOTHING_UNMET =
  'Only a call on which a check or criterion was not met, and whose caller said something, becomes a test';
const MAX_ISSUES = 20;
/** Turns beyond the caller's lines, in which the agent of today may ask more than that of the call. */
const MORE_TURNS = 10;

/** Makes tests of calls that went wrong. */
@Injectable()
export class PromotionService {
  constructor(
    private readonly agents: AgentsService,
    private readonly calls: CallsService,
    private readonly evaluations: EvaluationsService,
    private readonly personalities: PersonalitiesService,
  ) {}

  /**
   * @throws DomainError NOT_FOUND or FORBIDDEN for the call; CONFLICT if it has not ended, was promoted before, does not show
   *   what went wrong, or its agent or personality was deleted
   */
  async promote(caller: Caller, callId: string): Promise<PromotedEvaluation> {
    const call = await this.calls.get(caller, callId);
    if (call.status !== 'ENDED') throw conflict('The call has not ended');
    if (await this.agents.isDeleted(call.agentId)) throw conflict('The agent of the call was deleted');
    const { evaluation, variables, measures } = call;
    const personality = evaluation.personality.id;
    const { unknown } = await this.personalities.unusable(caller, [personality]);
    if (unknown.size > 0) throw conflict('The personality of the evaluation of the call was deleted');
    const dates = evaluation.dates && datesFrom(evaluation.dates);
    const definition = withVariables(evaluation.definition, variables, dates);
    const promotion = measures && (await promote({ ...call, measures }, definition, () => setImmediate()));
    if (!promotion) throw conflict(NOTHING_UNMET);
    const { notFailing, ...content } = promotion;
    const input = { ...inputOf(call), personalityId: personality, ...content };
    const issues = inputViolations('new', input).slice(0, MAX_ISSUES);
    if (issues.length > 0) throw new DomainError('CONFLICT', 'The call cannot become an evaluation', issues);
    return { ...(await this.evaluations.create(caller, call.agentId, input, call.id)), notFailing };
  }
}

function inputOf({ id, evaluation, startedAt, timeline }: CallDetails) {
  const { name, language, hasOwnLanguage } = evaluation;
  const at = (startedAt ?? '').slice(0, 16).replace('T', ' ');
  const lines = timeline.filter(({ type }) => type === 'speech').length;
  return {
    // One for each call: the second promotion of a call is refused.
    key: `call-${id}`,
    name: `${clipped(name, 200).replaceAll('{{', '{ {')}, call of ${at}`,
    scenarioText: `You say what the caller of a call of ${at} UTC said, line by line.`,
    language: hasOwnLanguage === true ? language : null,
    maxTurns: Math.min(LIMITS.maxTurns, Math.max(40, lines + MORE_TURNS)),
  };
}
