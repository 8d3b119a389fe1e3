import { Controller, Delete, Param, Query } from '@nestjs/common';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { DeleteImportedCallQuery } from './dto/delete-imported-call.query.js';
import { RunDeletionService } from './run-deletion.service.js';

@Controller()
export class RetentionController {
  constructor(private readonly deletion: RunDeletionService) {}

  @Operation({
    summary: 'Delete an imported call',
    description:
      'Permanently deletes the call that was imported with an external id: its run, the runs that judged it again, transcript, recording and report links, the evaluations that were made from it, and the stored responses to requests about its agent with an `Idempotency-Key`.',
    tag: 'Runs',
    access: 'ADMIN',
    path: { id: 'Identifier of the agent' },
    query: true,
    response: { shape: 'message', message: 'Call deleted successfully' },
    errors: ['CONFLICT'],
  })
  @Delete('agents/:id/calls')
  deleteImportedCall(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() { externalId }: DeleteImportedCallQuery,
  ): Promise<void> {
    return this.deletion.deleteImported(caller, id, externalId);
  }

  @Operation({
    summary: 'Delete a run',
    description:
      'Permanently deletes an ended run with its calls, transcripts, recordings and report links. They disappear from the metrics of the agent as well. Webhook deliveries about the run are kept until their own retention time has passed.',
    tag: 'Runs',
    access: 'ADMIN',
    path: { id: 'Identifier of the run' },
    response: { shape: 'message', message: 'Run deleted successfully' },
    errors: ['CONFLICT'],
  })
  @Delete('runs/:id')
  deleteRun(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<void> {
    return this.deletion.delete(caller, id);
  }
}
