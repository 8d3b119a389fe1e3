import { Controller, Get, Param, Query } from '@nestjs/common';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { RunComparison } from './dto/comparison.responses.js';
import { RunMatrix } from './dto/matrix.responses.js';
import { ComparisonQuery, MatrixQuery } from './dto/comparison.queries.js';
import { ComparisonService } from './comparison.service.js';

@Controller()
export class ComparisonController {
  constructor(private readonly service: ComparisonService) {}

  @Operation({
    summary: 'Compare a run with another one',
    description:
      'Pass rates, scores and latencies of both runs, case by case. `better` and `worse` are differences larger than chance: one-sided exact tests at 5 %, adjusted for their number. A case with too few counted calls to find any difference is `undecided` and says in `callsNeeded` how many each run needs. Without a run to compare with: 404, whose issues name the runs of the agent.',
    tag: 'Runs',
    access: 'VIEWER',
    path: { id: 'Identifier of the run' },
    query: true,
    response: { shape: 'data', type: RunComparison, message: 'Runs compared successfully' },
    errors: ['CONFLICT'],
  })
  @Get('runs/:id/comparison')
  compareRuns(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() { with: baseline = 'previous' }: ComparisonQuery,
  ): Promise<RunComparison> {
    return this.service.compare(caller, id, baseline);
  }

  @Operation({
    summary: 'Compare several runs with one',
    description:
      'Pass rates, scores and latencies of the run and of others side by side, case by case: those of the run, matched as in the comparison of two. `better` and `worse` are differences to the run that are larger than chance: exact tests of all cases of all runs, two-sided at 5 % and adjusted for their number, so that equal runs show any difference in at most 5 % of such tables.',
    tag: 'Runs',
    access: 'VIEWER',
    path: { id: 'Identifier of the run' },
    query: true,
    response: { shape: 'data', type: RunMatrix, message: 'Runs compared successfully' },
    errors: ['CONFLICT'],
  })
  @Get('runs/:id/matrix')
  compareSeveralRuns(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() { with: others = 'previous' }: MatrixQuery,
  ): Promise<RunMatrix> {
    return this.service.matrix(caller, id, others.split(','));
  }
}
