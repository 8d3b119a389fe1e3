import { Controller, Param, Post } from '@nestjs/common';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { PromotedEvaluation } from './dto/promoted-evaluation.response.js';
import { PromotionService } from './promotion.service.js';

@Controller()
export class PromotionController {
  constructor(private readonly service: PromotionService) {}

  @Operation({
    summary: 'Make an evaluation of a call',
    description:
      'The evaluation says what the caller said, and requires the checks and criteria that were not met; the tools return what they returned. Personal data is replaced by fictional values. It is provisional: not counted until it has failed in a run.',
    tag: 'Runs',
    access: 'EDITOR',
    path: { id: 'Identifier of the call' },
    response: { shape: 'data', type: PromotedEvaluation, message: 'Evaluation created successfully', status: 201 },
    errors: ['CONFLICT'],
  })
  @Post('calls/:id/evaluation')
  promoteCall(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<PromotedEvaluation> {
    return this.service.promote(caller, id);
  }
}
