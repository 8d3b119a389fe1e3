import { Controller, Get, Param, Query } from '@nestjs/common';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import type { Page } from '../../platform/database/page.js';
import { PageQuery } from '../../platform/http/pagination.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { Evaluation } from './dto/evaluation.response.js';
import { EvaluationsService } from './evaluations.service.js';

const tag = 'Evaluations';

@Controller()
export class EvaluationsController {
  constructor(private readonly service: EvaluationsService) {}

  @Operation({
    summary: "List an agent's evaluations",
    description: 'The test scenarios attached to the agent, newest first.',
    tag,
    access: 'VIEWER',
    path: { agentId: 'Identifier of the agent' },
    query: true,
    answer: { shape: 'page', type: Evaluation, message: 'Evaluations retrieved successfully' },
  })
  @Get('agents/:agentId/evaluations')
  listEvaluations(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Query() query: PageQuery,
  ): Promise<Page<Evaluation>> {
    return this.service.list(caller, agentId, query);
  }

  @Operation({
    summary: 'Read an evaluation',
    description: 'Stays readable after its agent was deleted.',
    tag,
    access: 'VIEWER',
    path: { id: 'Identifier of the evaluation' },
    answer: { shape: 'data', type: Evaluation, message: 'Evaluation retrieved successfully' },
  })
  @Get('evaluations/:id')
  getEvaluation(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<Evaluation> {
    return this.service.get(caller, id);
  }
}
