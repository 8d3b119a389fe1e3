import { Controller, Get, Param, Query } from '@nestjs/common';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import type { Page } from '../../platform/database/page.js';
import { PageQuery } from '../../platform/http/dto/pagination.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { CaseHistoryService } from './case-history.service.js';
import { CaseResult } from './dto/case-history.response.js';

@Controller()
export class CaseHistoryController {
  constructor(private readonly service: CaseHistoryService) {}

  @Operation({
    summary: 'List the results of a case over time',
    description:
      'How the case ended in each completed or failed run of the agent, newest first, for 400 days after the run ended. Derived, imported and cancelled runs are left out, and runs that were deleted on request. Returns 404 if no such run had the case.',
    tag: 'Runs',
    access: 'VIEWER',
    path: {
      id: 'Identifier of the agent',
      key: 'Key of an evaluation, for all of its cases, or the `caseKey` of one case, with `#` written as `%23`',
    },
    query: true,
    response: { shape: 'page', type: CaseResult, message: 'History of the case retrieved successfully' },
  })
  @Get('agents/:id/cases/:key/history')
  listCaseHistory(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Param('key') key: string,
    @Query() query: PageQuery,
  ): Promise<Page<CaseResult>> {
    return this.service.history(caller, id, key, query);
  }
}
