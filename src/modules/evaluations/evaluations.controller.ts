import { Body, Controller, Delete, Get, type OnApplicationBootstrap, Param, Patch, Post, Query } from '@nestjs/common';
import { type EvaluationInput, inputViolations } from '../../../libs/evaluation-definition/index.js';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import type { Page } from '../../platform/database/page.js';
import { PageQuery } from '../../platform/http/dto/pagination.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { example } from './definition/authored-fields.js';
import { EvaluationSchemaPipe } from './definition/evaluation-schema.pipe.js';
import { CreateEvaluationRequest, UpdateEvaluationRequest } from './dto/evaluation.requests.js';
import { Evaluation } from './dto/evaluation.response.js';
import { type EvaluationChange, EvaluationsService } from './evaluations.service.js';

const tag = 'Evaluations';

@Controller()
export class EvaluationsController implements OnApplicationBootstrap {
  constructor(private readonly service: EvaluationsService) {}

  /** Compiles the schemas before the first request, which would block all others for about a tenth of a second. */
  onApplicationBootstrap(): void {
    inputViolations('new', {});
    inputViolations('change', {});
  }

  @Operation({
    summary: 'Create an evaluation',
    description: 'All violations are reported at once. Checks that could never be met are rejected.',
    tag,
    access: 'EDITOR',
    path: { agentId: 'Identifier of the agent' },
    body: { type: CreateEvaluationRequest, example },
    response: { shape: 'data', type: Evaluation, message: 'Evaluation created successfully', status: 201 },
  })
  @Post('agents/:agentId/evaluations')
  createEvaluation(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Body(new EvaluationSchemaPipe('new')) body: EvaluationInput,
  ): Promise<Evaluation> {
    return this.service.create(caller, agentId, body);
  }

  @Operation({
    summary: "List an agent's evaluations",
    description: 'Sorted newest first.',
    tag,
    access: 'VIEWER',
    path: { agentId: 'Identifier of the agent' },
    query: true,
    response: { shape: 'page', type: Evaluation, message: 'Evaluations retrieved successfully' },
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
    summary: 'Get an evaluation',
    description: 'Also readable after its agent was deleted.',
    tag,
    access: 'VIEWER',
    path: { id: 'Identifier of the evaluation' },
    response: { shape: 'data', type: Evaluation, message: 'Evaluation retrieved successfully' },
  })
  @Get('evaluations/:id')
  getEvaluation(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<Evaluation> {
    return this.service.get(caller, id);
  }

  @Operation({
    summary: 'Update an evaluation',
    description:
      'Changes the given fields and leaves all others unchanged; lists are replaced as a whole. The result is validated like a new evaluation.',
    tag,
    access: 'EDITOR',
    path: { id: 'Identifier of the evaluation' },
    body: { type: UpdateEvaluationRequest, example: { critical: true, maxTurns: 30, tags: ['booking', 'nightly'] } },
    response: { shape: 'data', type: Evaluation, message: 'Evaluation updated successfully' },
    errors: ['CONFLICT'],
  })
  @Patch('evaluations/:id')
  updateEvaluation(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body(new EvaluationSchemaPipe('change')) body: EvaluationChange,
  ): Promise<Evaluation> {
    return this.service.update(caller, id, body);
  }

  @Operation({
    summary: 'Delete an evaluation',
    description: 'Its existing calls and results are kept.',
    tag,
    access: 'EDITOR',
    path: { id: 'Identifier of the evaluation' },
    response: { shape: 'message', message: 'Evaluation deleted successfully' },
  })
  @Delete('evaluations/:id')
  deleteEvaluation(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<void> {
    return this.service.delete(caller, id);
  }
}
